import type { ChatMessage, SamplingSettings } from '../model';
import type { FaultCode } from '../../faults';

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
    }
  /** Ends the turn with its text so far. */
  | { readonly kind: 'finish'; readonly id: number }
  | { readonly kind: 'cancel'; readonly id: number };

export type FromInference =
  | ({ readonly kind: 'ready' } & Loaded)
  | { readonly kind: 'text'; readonly id: number; readonly piece: string }
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

export interface FinishedTurn {
  readonly text: string;
  readonly finishReason: 'stop' | 'length' | 'other';
  /** The sampled tokens, including the one that ended the turn. */
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly promptIds: readonly number[];
}
