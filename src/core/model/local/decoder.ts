import type { Graph } from './graph';
import { GrowingDecoder } from './growingDecoder';
import { keepsKeysInPlace, SharedDecoder } from './sharedDecoder';

/** The keys and values of one dialogue. */
export interface Row {
  /** The tokens that they were computed from. */
  readonly ids: readonly number[];
}

/** Runs a graph over many dialogues, each with its keys and values. */
export interface Decoder {
  /** Bytes of keys and values per token. */
  readonly bytesPerToken: number;
  /** An empty row. */
  open(): Row;
  /** Forgets a row. */
  close(row: Row): void;
  /** Called when a row will be left alone for a while, so that it holds on to nothing but its own. */
  rest(row: Row): void;
  /** Forgets what follows the first `length` tokens. */
  cut(row: Row, length: number): void;
  /** Reads tokens behind what the row holds. Returns the logits behind the last one, good until the next call. */
  read(row: Row, ids: readonly number[]): Promise<Float32Array>;
  /** Reads one token in each row. Returns the logits behind each, good until the next call. */
  step(rows: readonly Row[], ids: readonly number[]): Promise<readonly Float32Array[]>;
}

/**
 * Graphs with GroupQueryAttention write keys and values into the memory that they read them from; others return all of
 * them anew with each token. Which it is shows when it is tried.
 */
export async function openDecoder(graph: Graph, bytes: number): Promise<Decoder> {
  const inPlace = graph.provider === 'cpu' && (await keepsKeysInPlace(graph));
  return inPlace ? new SharedDecoder(graph, bytes) : new GrowingDecoder(graph);
}
