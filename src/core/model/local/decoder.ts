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
  /** Most bytes that this many rows of up to `length` tokens take: as they are kept, moved, and copied by a run. */
  bytesFor(rows: number, length: number): number;
  /** Bytes of keys and values that it holds now. */
  readonly held: number;
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
  /** Reads one token in each row. `use` is given the logits behind each, good until it returns, in any order. */
  step(rows: readonly Row[], ids: readonly number[], use: UseLogits): Promise<void>;
}

/** @param index of the row among those that were asked for */
export type UseLogits = (index: number, logits: Float32Array) => void;

/**
 * Graphs with GroupQueryAttention write keys and values into the memory that they read them from; others return all of
 * them anew with each token. Which it is shows when it is tried.
 *
 * @param bytes of the weights
 * @param memoryBytes for all else; never more rows are open than `bytesFor` says fit
 */
export async function openDecoder(graph: Graph, bytes: number, memoryBytes: number): Promise<Decoder> {
  const inPlace = graph.provider === 'cpu' && (await keepsKeysInPlace(graph));
  return inPlace ? new SharedDecoder(graph, bytes, memoryBytes) : new GrowingDecoder(graph);
}
