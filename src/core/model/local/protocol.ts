import type { ChatMessage, SamplingSettings } from '../model';
import type { FaultCode } from '../../fault';
import type { LikelyToken } from './sampling';

/** Settings of the inference process, passed as JSON in its first argument. */
export interface InferenceSettings {
  readonly folder: string;
  /** Path of the graph. */
  readonly graph: string;
  /** Maximum memory for weights, keys and values together, in bytes. */
  readonly memoryBytes: number;
}

export type ToInference =
  | {
      readonly kind: 'generate';
      readonly id: number;
      readonly messages: readonly ChatMessage[];
      readonly sampling: SamplingSettings;
      /** True if each piece of text must be sent as it is generated. */
      readonly stream: boolean;
      /** Number of the most likely tokens to tell with each sampled one; 0: none. */
      readonly alternatives: number;
    }
  /** Ends the turn with its text so far. */
  | { readonly kind: 'finish'; readonly id: number }
  | { readonly kind: 'cancel'; readonly id: number };

export type FromInference =
  | ({ readonly kind: 'ready' } & Loaded)
  /** The prompt has been read by the tokenizer; sent for turns whose text is streamed. */
  | { readonly kind: 'begun'; readonly id: number; readonly promptIds: readonly number[] }
  | ({ readonly kind: 'text'; readonly id: number } & TurnPiece)
  | ({ readonly kind: 'done'; readonly id: number } & FinishedTurn)
  /** Without an id: the folder cannot be loaded, and the process ends. */
  | { readonly kind: 'failed'; readonly id?: number; readonly code: FaultCode; readonly message: string };

/** Facts about a model that are known once it is loaded. */
export interface Loaded {
  /** ONNX Runtime's name of the execution provider: `cpu`, `webgpu`, `cuda`. */
  readonly provider: string;
  /** One sentence for each provider that was tried and does not work here. */
  readonly notes: readonly string[];
}

/** Sampled tokens in order. */
export interface TurnTokens {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  /** For each token the most likely ones in its place; absent unless some were asked for. */
  readonly alternatives?: readonly (readonly LikelyToken[])[];
}

/** Text that never changes again, and the tokens since the piece before it. */
export interface TurnPiece extends TurnTokens {
  /** Empty for tokens without text, such as the one that ends a turn. */
  readonly piece: string;
}

/** A whole turn. Its tokens include the one that ended it. */
export interface FinishedTurn extends TurnTokens {
  readonly text: string;
  readonly finishReason: 'stop' | 'length' | 'other';
  readonly promptIds: readonly number[];
}
