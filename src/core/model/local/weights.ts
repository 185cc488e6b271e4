import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { openRegularSync } from '../../regularFile';
import { damaged, readJson } from './files';

/** `tandem onnx` records for each graph the digests of the weights that it was made from, by file. */
const form = z.looseObject({
  graphs: z.record(z.string(), z.looseObject({ weights: z.record(z.string(), z.string()).optional() })),
});

const PART = 64 * 2 ** 10; // bytes
const PARTS = 64;

/**
 * False if nothing was recorded for the graph, or no weights are in the folder.
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
 * Digest of a file's size and of parts spread evenly over it (all of it up to 4 MiB), as
 * trainer/tandem_trainer/export/onnx/weights.py computes it. It detects training, which changes nearly every number,
 * but may miss a change of a single one.
 */
export function digest(file: string): string {
  const descriptor = openRegularSync(file);
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
