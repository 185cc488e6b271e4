import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { damaged, readJson } from './files';

/** What `tandem onnx` wrote of each graph: digests of the weights that it was made from, by their file. */
const form = z.looseObject({
  graphs: z.record(z.string(), z.looseObject({ weights: z.record(z.string(), z.string()).optional() })),
});

const PART = 64 * 2 ** 10; // bytes
const PARTS = 64;

/**
 * Whether a graph was made from other weights than those that lie in the folder now. A graph of which nothing is
 * recorded, or without weights beside it, is taken as it is.
 *
 * @throws {Fault} `model/damaged-folder`
 */
export function isOfOtherWeights(folder: string, graph: string): boolean {
  const record = path.join(path.dirname(graph), 'export.json');
  if (!existsSync(record)) return false;
  const read = form.safeParse(readJson(path.dirname(record), path.basename(record)));
  if (!read.success) throw damaged(record, read.error.issues[0]!.message);
  const madeFrom = read.data.graphs[path.basename(graph)]?.weights;
  const present = readdirSync(folder).filter((name) => /^model.*\.safetensors$/.test(name));
  if (madeFrom === undefined || present.length === 0) return false;
  return Object.entries(madeFrom).some(
    ([name, then]) => !present.includes(name) || digest(path.join(folder, name)) !== then,
  );
}

/**
 * Of the size and of parts that are spread evenly over the file, of all of it up to 4 MiB, as
 * trainer/tandem_trainer/onnx/weights.py computes it. Training changes nearly every number, so it is seen; a change of
 * one number may not be.
 */
export function digest(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const hash = createHash('sha256').update(`${size}\n`);
    const bytes = Buffer.alloc(PART);
    for (let part = 0; part < PARTS; part++) {
      const spread = part * (size - PART);
      const from = size <= PARTS * PART ? part * PART : (spread - (spread % (PARTS - 1))) / (PARTS - 1);
      hash.update(bytes.subarray(0, readSync(descriptor, bytes, 0, PART, from)));
    }
    return hash.digest('hex').slice(0, 16);
  } finally {
    closeSync(descriptor);
  }
}
