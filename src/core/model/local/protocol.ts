import type { ChatMessage, SamplingSettings } from '../model';
import type { FaultCode } from '../../fault';
import type { Guide } from './guidance';
import type { LikelyToken } from './sampling';

/** Passed as JSON in the first argument of the inference process. */
export interface InferenceSettings {
  readonly folder: string;
  readonly graph: string;
  /** For weights, keys and values together, in bytes. */
  readonly memoryBytes: number;
}

export type ToInference =
  | {
      readonly kind: 'generate';
      readonly id: number;
      readonly messages: readonly ChatMessage[];
      readonly openings?: readonly string[];
      readonly sampling: SamplingSettings;
      readonly stream: boolean;
      /** 0: none. */
      readonly alternatives: number;
      readonly guide?: Guide<readonly ChatMessage[]>;
    }
  | { readonly kind: 'finish'; readonly id: number }
  | { readonly kind: 'cancel'; readonly id: number };

export type FromInference =
  | ({ readonly kind: 'ready' } & Loaded)
  /** Sent after tokenising, for turns whose text is streamed. */
  | { readonly kind: 'begun'; readonly id: number; readonly promptIds: readonly number[] }
  | ({ readonly kind: 'text'; readonly id: number } & TurnPiece)
  | ({ readonly kind: 'done'; readonly id: number } & FinishedTurn)
  /** Without an id: the folder cannot be loaded, and the process ends. */
  | { readonly kind: 'failed'; readonly id?: number; readonly code: FaultCode; readonly message: string };

export interface Loaded {
  readonly provider: string;
  readonly notes: readonly string[];
}

export interface TurnTokens {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  /** For each token the most likely ones in its place; absent unless requested. */
  readonly alternatives?: readonly (readonly LikelyToken[])[];
}

/** The text never changes again; the tokens are those since the piece before it. */
export interface TurnPiece extends TurnTokens {
  /** Empty for tokens without text, such as the one that ends a turn. */
  readonly piece: string;
}

/** Its tokens include the one that ended the turn. */
export interface FinishedTurn extends TurnTokens {
  readonly text: string;
  readonly finishReason: 'stop' | 'length' | 'other';
  readonly promptIds: readonly number[];
}
