import { resolve } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { ask, sentenceOf, type Trainer, WRONG_USE } from './trainer';

export interface ConvertOptions {
  /** A GGUF file, a folder in which only such a file lies, or a model folder. */
  readonly from: string;
  /** The model folder, or the GGUF file, that is made of it; nothing may be there yet. */
  readonly to: string;
  /** fp32, bf16 or fp16 of a folder, q8_0 or fp32 of a file; the trainer says which it takes. */
  readonly precision?: string;
  readonly signal?: AbortSignal;
}

const convertedSchema = z.object({ made: z.string(), precision: z.string(), parameters: z.int().positive() });

export type Converted = Readonly<z.infer<typeof convertedSchema>>;

/**
 * Makes a model folder of a GGUF file, or a GGUF file of a model folder. It is there whole or not at all.
 * @throws {Fault} `training/cannot-convert` for what is of no use; `training/not-converted`
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
  const code = answer.code === WRONG_USE ? 'training/cannot-convert' : 'training/not-converted';
  throw new Fault(code, sentenceOf(answer));
}
