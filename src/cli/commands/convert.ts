import { existsSync } from 'node:fs';
import { convertModel } from '../../core/training/convert';
import type { Install, CommandResult, CliContext } from '../command';
import { wrongUse } from '../command';
import { openShippedTrainer } from '../resources';

interface Options {
  readonly precision?: string;
}

export const installConvert: Install = (program, perform) => {
  program
    .command('convert')
    .description('convert a GGUF file to a model folder, to train and play it, or a folder to a GGUF file')
    .argument('<from>', 'a GGUF file of a Llama, Mistral or Qwen, or such a model folder')
    .argument('<to>', 'the folder, or the GGUF file, that is made')
    .option(
      '--precision <name>',
      'of a folder fp32, bf16 or fp16 (default: the file’s own, fp32 if it is quantized); of a file q8_0 or fp32 (default: q8_0)',
    )
    .action((from: string, to: string, options: Options) =>
      perform((surroundings) => convert(from, to, options, surroundings)),
    );
};

async function convert(
  from: string,
  to: string,
  { precision }: Options,
  surroundings: CliContext,
): Promise<CommandResult> {
  if (!existsSync(from)) throw wrongUse(`There is no ${from}.`);
  if (existsSync(to)) throw wrongUse(`${to} is there already: give another name, or remove it first.`);
  const trainer = await openShippedTrainer(surroundings);
  const converted = await convertModel(trainer, { from, to, precision, signal: surroundings.signal });
  return { summary: converted, print: () => converted.made };
}
