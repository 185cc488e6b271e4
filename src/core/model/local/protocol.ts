import type { ChatMessage, SamplingSettings } from '../model';

/** What the inference process is started with, as JSON in its first argument. */
export interface InferenceSettings {
  readonly folder: string;
  /** The graph's file. */
  readonly graph: string;
  /** Most memory for weights, keys and values together, in bytes. */
  readonly memoryBytes: number;
}

export type ToInference =
  | {
      readonly kind: 'generate';
      readonly id: number;
      readonly messages: readonly ChatMessage[];
      readonly sampling: SamplingSettings;
      /** Whether each piece of text is told as it is written. */
      readonly stream: boolean;
    }
  /** The turn has enough: it is finished with what it has so far. */
  | { readonly kind: 'finish'; readonly id: number }
  | { readonly kind: 'cancel'; readonly id: number };

export type FromInference =
  | ({ readonly kind: 'ready' } & Loaded)
  | { readonly kind: 'text'; readonly id: number; readonly piece: string }
  | ({ readonly kind: 'done'; readonly id: number } & FinishedTurn)
  /** Without an id: the folder cannot be loaded, and the process ends. */
  | { readonly kind: 'failed'; readonly id?: number; readonly code: string; readonly message: string };

/** What is known of a model once it is loaded. */
export interface Loaded {
  /** ONNX Runtime's name of what computes: `cpu`, `webgpu`, `cuda`. */
  readonly provider: string;
  /** One sentence for each provider that was tried and does not work here. */
  readonly notes: readonly string[];
}

export interface FinishedTurn {
  readonly text: string;
  readonly finishReason: 'stop' | 'length' | 'other';
  /** The sampled tokens, the one that ended the turn included. */
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly promptIds: readonly number[];
}
