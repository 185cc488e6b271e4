import type { Decoder } from './decoder';
import type { Graph } from './graph';
import { GrowingDecoder } from './growingDecoder';
import { keepsKeysInPlace, SharedDecoder } from './sharedDecoder';

/**
 * Graphs with GroupQueryAttention write keys and values into the memory that they read from; others return new copies
 * with each token. A trial run shows which kind it is.
 * @param bytes size of the weights
 * @param memoryBytes memory for all else; the caller never opens more rows than fit according to `bytesFor`
 */
export async function openDecoder(graph: Graph, bytes: number, memoryBytes: number): Promise<Decoder> {
  const inPlace = graph.provider === 'cpu' && (await keepsKeysInPlace(graph));
  return inPlace ? new SharedDecoder(graph, bytes, memoryBytes) : new GrowingDecoder(graph);
}
