import { existsSync } from 'node:fs';
import { convertModel, precisionSchema, writeGraphs, type Precision } from '../../core/training/convert';
import { type Install, type CommandResult, type CliContext, wrongUse } from '../command';
import { openShippedTrainer } from '../resources';
import path from 'node:path';
import { say } from '../terminal';

interface ConvertOptions {
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
    .action(perform(convert));
};

async function convert(
  from: string,
  to: string,
  { precision }: ConvertOptions,
  surroundings: CliContext,
): Promise<CommandResult> {
  if (!existsSync(from)) throw wrongUse(`There is no ${from}.`);
  if (existsSync(to)) throw wrongUse(`${to} is there already: give another name, or remove it first.`);
  const trainer = await openShippedTrainer(surroundings);
  const converted = await convertModel(trainer, { from, to, precision, signal: surroundings.signal });
  return { summary: converted, print: () => converted.made };
}

interface GraphOptions {
  readonly precision?: readonly Precision[];
  readonly base?: string;
}

export const installOnnx: Install = (program, perform) => {
  program
    .command('onnx')
    .description(
      'writeOnnx the ONNX graphs that a model folder plays with on this machine, or a critic scores with',
    )
    .argument(
      '<folder>',
      'a model in Hugging Face transformers format: `model` or `critic` of a run, or a download',
    )
    .option(
      '--precision <list>',
      'fp32, int8 and int4, separated by commas (default: fp32,int8)',
      readPrecisions,
    )
    .option('--base <model>', 'the base model of a critic, if it has moved')
    .action(perform(writeOnnx));
};

function readPrecisions(text: string): readonly Precision[] {
  return text.split(',').map((name) => {
    const known = precisionSchema.options.find((precision) => precision === name.trim());
    if (known !== undefined) return known;
    throw wrongUse(`--precision takes fp32, int8 and int4 with commas between, not "${name}".`);
  });
}

async function writeOnnx(
  folder: string,
  { precision, base }: GraphOptions,
  to: CliContext,
): Promise<CommandResult> {
  if (!existsSync(folder)) throw wrongUse(`There is no model folder ${folder}.`);
  const graphs = await writeGraphs(await openShippedTrainer(to), {
    folder,
    ...(precision !== undefined && { precisions: precision }),
    // A base that is no folder is a name on the hub.
    ...(base !== undefined && { base: existsSync(base) ? path.resolve(base) : base }),
    signal: to.signal,
    onLine: say,
  });
  return { summary: graphs, print: () => graphs.files.join('\n'), failed: graphs.refused.length > 0 };
}
