import { resolve } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { ask, sentenceOf, type Trainer, WRONG_USE } from './trainer';

export type Precision = z.infer<typeof precisionSchema>;

export interface OnnxOptions {
  /** A model as transformers reads it, or an exported critic. */
  readonly folder: string;
  /** fp32 and int8 when it is left out; a critic has none to choose. */
  readonly precisions?: readonly Precision[];
  /** The base that a critic was trained with, when it is not where it was. */
  readonly base?: string;
  readonly signal?: AbortSignal;
  /** Each line that the trainer says while it works. */
  readonly onLine?: (line: string) => void;
}

export const precisionSchema = z.enum(['fp32', 'int8', 'int4']);
const graphsSchema = z.object({
  /** What was written. */
  files: z.array(z.string()),
  /** Precisions whose graph is too far from PyTorch and is not there; the others are. */
  refused: z.array(precisionSchema),
});

export type Graphs = Readonly<z.infer<typeof graphsSchema>>;

/**
 * Writes the graphs with which a model folder plays here, or a critic scores, into its `onnx/`. Each is compared with
 * PyTorch before it is put in place.
 * @throws {Fault} `training/cannot-export` for a folder of no use, or when every precision is refused;
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
  let held: string | undefined;
  const answer = await ask(trainer, ['onnx', ...given, folder], {
    cwd: process.cwd(),
    signal,
    // One behind: of a failure the last line is the sentence of the fault below.
    onLine: (line) => {
      if (held !== undefined) onLine?.(held);
      held = line;
    },
  });
  if (answer.code !== 0) {
    const code = answer.code === WRONG_USE ? 'training/cannot-export' : 'training/not-exported';
    throw new Fault(code, sentenceOf(answer));
  }
  if (held !== undefined) onLine?.(held);
  return graphsSchema.parse(JSON.parse(answer.stdout));
}
