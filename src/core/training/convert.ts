import { resolve } from 'node:path';
import * as z from 'zod';
import { ask, faultOf, type Trainer } from './trainer';

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
