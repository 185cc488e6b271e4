import type { ChatMessage } from '../../model';

/** A dialogue whose turns are to be scored. */
export interface CriticDialogue {
  /** As the agent saw it, its own messages whole. */
  readonly messages: readonly ChatMessage[];
  readonly turns: readonly SpokenTurn[];
  readonly hiddenInformation?: string;
}

/** One turn of the agent, with what the sampler said of it where it did. */
export interface SpokenTurn {
  /** Index of its message; earlier messages are its history. */
  readonly position: number;
  readonly ids?: readonly number[];
  readonly promptIds?: readonly number[];
  readonly finishReason?: string;
  /** What a server took out of the text that it sampled. */
  readonly reasoning?: string;
}

/** One turn as the models read it: natural log-probabilities, one for each of `ids`. */
export interface ReadTurn {
  readonly ids: readonly number[];
  /** What each of them adds to the text. */
  readonly texts: readonly string[];
  /** By the critic, with the hidden information if it was trained with it. */
  readonly critic: readonly number[];
  /** By the base, with and without the hidden information; the first is absent where there is none. */
  readonly informed?: readonly number[];
  readonly plain: readonly number[];
}

/** What came of a dialogue, or why it cannot be scored. */
export type ReadDialogue =
  { readonly turns: readonly ReadTurn[] } | { readonly why: string; readonly reason: string };

/** Told before anything is read: `error` when the critic cannot be loaded, and the process then ends. */
export type FromScoring =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly id: number; readonly dialogue: ReadDialogue }
  | { readonly kind: 'failed'; readonly id?: number; readonly code: string; readonly message: string };

export interface ToScoring {
  readonly id: number;
  readonly dialogue: CriticDialogue;
}
