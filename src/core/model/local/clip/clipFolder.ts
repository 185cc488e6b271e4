import { existsSync } from 'node:fs';
import path from 'node:path';
import { Fault } from '../../../fault';

export type ClipPrecision = 'fp32' | 'int8';

/** Names of the graphs in the layout that `tandem download clip` keeps. */
const GRAPHS: readonly (readonly [name: string, precision: ClipPrecision])[] = [
  ['vision_model.onnx', 'fp32'],
  ['vision_model_quantized.onnx', 'int8'],
];

/**
 * The most precise graph of a folder. Does not load it.
 * @throws {Fault} `model/no-folder`
 */
export function clipGraph(folder: string): { readonly graph: string; readonly precision: ClipPrecision } {
  for (const [name, precision] of GRAPHS) {
    const graph = path.join(folder, 'onnx', name);
    if (existsSync(graph)) return { graph, precision };
  }
  throw new Fault(
    'model/no-folder',
    `The published measure of web pages needs CLIP, which is not in ${folder}. Fetch it with: tandem download clip`,
  );
}

/** The PNG in Base64; null stands for the black square of a dialogue without a page. */
export type PictureRequest = string | null;

/** Components of the picture's direction, as CLIP projects it; not normalized. */
export type PictureEmbedding = readonly number[];
