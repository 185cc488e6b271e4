import type { ChatMessage } from '../../model';

export interface CriticDialogue {
  /** The conversation as the agent saw it, with its own messages in full. */
  readonly messages: readonly ChatMessage[];
  readonly turns: readonly SpokenTurn[];
  readonly hiddenInformation?: string;
}

/** Includes the sampler's data if there are any. */
export interface SpokenTurn {
  /** Index of its message; earlier messages are its history. */
  readonly position: number;
  readonly ids?: readonly number[];
  readonly promptIds?: readonly number[];
  readonly finishReason?: string;
  /** Thoughts that the server removed from the sampled text. */
  readonly reasoning?: string;
}

/** Natural log-probabilities, one for each of `ids`. */
export interface ReadTurn {
  readonly ids: readonly number[];
  readonly texts: readonly string[];
  /** Values of the critic, with the hidden information if it was trained with it. */
  readonly critic: readonly number[];
  /**
   * Values of the base with (`informed`) and without (`plain`) the hidden information; `informed` is absent if there
   * is none.
   */
  readonly informed?: readonly number[];
  readonly plain: readonly number[];
}

export type ReadDialogue =
  { readonly turns: readonly ReadTurn[] } | { readonly why: string; readonly reason: string };
