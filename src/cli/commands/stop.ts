import { Option } from 'commander';
import { stopRun, finishRun } from '../../core/training/lifecycle';
import { Runs } from '../../core/training/runs';
import type { Install, CommandResult, CliContext } from '../command';
import { toldOf } from '../following';
import { dataOption } from '../play';
import { say } from '../output';

interface Options {
  readonly data: string;
  readonly kill?: boolean;
  readonly finish?: boolean;
}

export const installStop: Install = (program, perform) => {
  program
    .command('stop')
    .description('stop a run after a checkpoint; it can be resumed')
    .argument('<run>', 'its id, or a part of it')
    .addOption(dataOption())
    .option('--kill', 'stop immediately; progress since its last checkpoint is repeated when it is resumed')
    .addOption(
      new Option(
        '--finish',
        'end the training of its policy after the current step, and write the model that did best until then',
      ).conflicts('kill'),
    )
    .action((run: string, options: Options) => perform((to) => stop(run, options, to)));
};

async function stop(name: string, { data, kill, finish }: Options, to: CliContext): Promise<CommandResult> {
  const runs = new Runs(data);
  const { id } = await runs.find(name);
  const [when, doing] =
    finish === true
      ? ['is done when its model is written', `Finishing ${id}; it ends its step and writes its model`]
      : ['stops when its checkpoint is written', `Stopping ${id}; it writes a checkpoint first`];
  to.onInterrupt(`Not waiting any more: the run ${when}.`);
  if (kill !== true) say(`${doing} …`);
  try {
    if (finish === true) return toldOf(await finishRun(runs, id, { signal: to.signal }), true);
    return toldOf(await stopRun(runs, id, { signal: to.signal, atOnce: kill === true }), kill !== true);
  } catch (error) {
    if (!to.signal.aborted) throw error;
    return toldOf(await runs.find(id), false);
  }
}
