import { existsSync } from 'node:fs';
import path from 'node:path';
import { precisionSchema, writeGraphs, type Precision } from '../../core/training/convert';
import { type Install, type CommandResult, type CliContext, wrongUse } from '../command';
import { openShippedTrainer } from '../resources';
import { say } from '../output';

interface Options {
  readonly precision?: readonly Precision[];
  readonly base?: string;
}

export const installOnnx: Install = (program, perform) => {
  program
    .command('onnx')
    .description(
      'write the ONNX graphs that a model folder plays with on this machine, or a critic scores with',
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
    .action((folder: string, options: Options) => perform((to) => write(folder, options, to)));
};

function readPrecisions(text: string): readonly Precision[] {
  return text.split(',').map((name) => {
    const known = precisionSchema.options.find((precision) => precision === name.trim());
    if (known !== undefined) return known;
    throw wrongUse(`--precision takes fp32, int8 and int4 with commas between, not "${name}".`);
  });
}

async function write(folder: string, { precision, base }: Options, to: CliContext): Promise<CommandResult> {
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
