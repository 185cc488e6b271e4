import type { ChatMessage } from '../../model';
import type { FaultCode } from '../../../fault';

/** A dialogue to be scored. */
export interface CriticDialogue {
  /** The conversation as the agent saw it, with its own messages in full. */
  readonly messages: readonly ChatMessage[];
  readonly turns: readonly SpokenTurn[];
  readonly hiddenInformation?: string;
}

/** One turn of the agent, with the sampler's data if there are any. */
export interface SpokenTurn {
  /** Index of its message; earlier messages are its history. */
  readonly position: number;
  readonly ids?: readonly number[];
  readonly promptIds?: readonly number[];
  readonly finishReason?: string;
  /** Thoughts that the server removed from the sampled text. */
  readonly reasoning?: string;
}

/** One turn as the models read it: natural log-probabilities, one for each of `ids`. */
export interface ReadTurn {
  readonly ids: readonly number[];
  /** Text that each id adds. */
  readonly texts: readonly string[];
  /** Values of the critic, with the hidden information if it was trained with it. */
  readonly critic: readonly number[];
  /**
   * Values of the base model with (`informed`) and without (`plain`) the hidden information; the first is absent if
   * there is none.
   */
  readonly informed?: readonly number[];
  readonly plain: readonly number[];
}

/** Result for a dialogue, or why it cannot be scored. */
export type ReadDialogue =
  { readonly turns: readonly ReadTurn[] } | { readonly why: string; readonly reason: string };

/**
 * Messages of the scoring process. `ready` comes before any result; `failed` without an id means that the critic cannot
 * be loaded, and the process then ends.
 */
export type FromScoring =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly id: number; readonly dialogue: ReadDialogue }
  | { readonly kind: 'failed'; readonly id?: number; readonly code: FaultCode; readonly message: string };

export interface ToScoring {
  readonly id: number;
  readonly dialogue: CriticDialogue;
}
