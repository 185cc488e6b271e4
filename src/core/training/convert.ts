import { resolve } from 'node:path';
import * as z from 'zod';
import { ask, faultOf, type Trainer, oneBehind } from './trainer';

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

interface ConvertOptions {
  /** A GGUF file, a folder that contains only such a file, or a model folder. */
  readonly from: string;
  /** Must not exist. */
  readonly to: string;
  /** fp32, bf16 or fp16 for a folder, q8_0 or fp32 for a file; the trainer refuses others. */
  readonly precision?: string;
  readonly signal?: AbortSignal;
}

const convertedSchema = z.object({ made: z.string(), precision: z.string(), parameters: z.int().positive() });

type Converted = Readonly<z.infer<typeof convertedSchema>>;

/**
 * A GGUF file becomes a model folder, and a model folder a GGUF file. The result appears only when it is complete.
 * @throws {Fault} `training/cannot-convert` for an unusable input; `training/not-converted`
 * @throws the signal's reason when it is aborted
 */
export async function convertModel(trainer: Trainer, options: ConvertOptions): Promise<Converted> {
  const { precision, signal } = options;
  const given = precision === undefined ? [] : ['--precision', precision];
  const answer = await ask(trainer, ['convert', ...given, resolve(options.from), resolve(options.to)], {
    cwd: process.cwd(),
    signal,
  });
  if (answer.code === 0) return convertedSchema.parse(JSON.parse(answer.stdout));
  throw faultOf(answer, ['training/cannot-convert', 'training/not-converted']);
}
