import { AppendingDecoder } from './appendingDecoder';
import type { Decoder } from './decoder';
import type { Graph } from './graph';
import { GrowingDecoder } from './growingDecoder';
import { keepsKeysInPlace, SharedDecoder } from './sharedDecoder';

/**
 * Graphs of `tandem onnx` return keys and values of new tokens alone. Of others, those with GroupQueryAttention write
 * them into the memory that they read from, and the rest return new copies of all with each token; a trial run shows
 * which kind it is.
 * @param bytes size of the weights
 * @param memoryBytes memory for all else; the caller never opens more rows than fit according to `bytesFor`
 */
export async function openDecoder(graph: Graph, bytes: number, memoryBytes: number): Promise<Decoder> {
  if (graph.takesLengths) return new AppendingDecoder(graph, bytes, memoryBytes);
  const inPlace = graph.provider === 'cpu' && (await keepsKeysInPlace(graph));
  return inPlace ? new SharedDecoder(graph, bytes, memoryBytes) : new GrowingDecoder(graph);
}
