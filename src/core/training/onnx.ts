import { resolve } from 'node:path';
import * as z from 'zod';
import { ask, faultOf, oneBehind, type Trainer } from './trainer';

export type Precision = z.infer<typeof precisionSchema>;

interface OnnxOptions {
  /** A Hugging Face model folder, or an exported critic. */
  readonly folder: string;
  /** Precisions of a model's graphs, fp32 and int8 by default; a critic has no choice. */
  readonly precisions?: readonly Precision[];
  /** The critic's base, when it is not where it was during training. */
  readonly base?: string;
  readonly signal?: AbortSignal;
  /** Receives the trainer's progress, a line at a time. */
  readonly onLine?: (line: string) => void;
}

export const precisionSchema = z.enum(['fp32', 'int8', 'int4']);
const graphsSchema = z.object({
  /** The files that were written. */
  files: z.array(z.string()),
  /** Precisions that were not written, because their graph differs too much from PyTorch. */
  refused: z.array(precisionSchema),
});

export type Graphs = Readonly<z.infer<typeof graphsSchema>>;

/**
 * Writes the ONNX graphs of a model or a critic into its `onnx/` folder. Each is compared with PyTorch before it is put
 * in place.
 * @throws {Fault} `training/cannot-export` for an unusable folder, or when every precision is refused;
 * `training/not-exported`
 * @throws the signal's reason when it is aborted
 */
export async function writeGraphs(trainer: Trainer, options: OnnxOptions): Promise<Graphs> {
  const { precisions, base, signal, onLine } = options;
  const folder = resolve(options.folder);
  const given = [
    ...(precisions === undefined ? [] : ['--precision', precisions.join(',')]),
    ...(base === undefined ? [] : ['--base', base]),
  ];
  const lines = oneBehind(onLine);
  const answer = await ask(trainer, ['onnx', ...given, folder], {
    cwd: process.cwd(),
    signal,
    onLine: lines.onLine,
  });
  if (answer.code !== 0) throw faultOf(answer, ['training/cannot-export', 'training/not-exported']);
  lines.passOn();
  return graphsSchema.parse(JSON.parse(answer.stdout));
}
