import { resolve } from 'node:path';
import * as z from 'zod';
import { ask, faultOf, oneBehind, type Trainer } from './trainer';

export type Precision = z.infer<typeof precisionSchema>;

interface OnnxOptions {
  /** A Hugging Face model folder, or an exported critic. */
  readonly folder: string;
  /** fp32 and int8 by default; a critic has no choice. */
  readonly precisions?: readonly Precision[];
  /** When the critic's base is not where it was during training. */
  readonly base?: string;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

export const precisionSchema = z.enum(['fp32', 'int8', 'int4']);
const graphsSchema = z.object({
  files: z.array(z.string()),
  /** Not written, because their graph differs too much from PyTorch. */
  refused: z.array(precisionSchema),
});

export type Graphs = Readonly<z.infer<typeof graphsSchema>>;

/**
 * Writes `onnx/`. Each graph is compared with PyTorch before it is put in place.
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
