import { stopRun } from '../../core/training/control';
import { Runs } from '../../core/training/runs';
import type { Install, Outcome, Surroundings } from '../command';
import { toldOf } from '../following';
import { dataOption } from '../play';

interface Options {
  readonly data: string;
  readonly kill?: boolean;
}

export const installStop: Install = (program, perform) => {
  program
    .command('stop')
    .description('stop a run after a checkpoint; it can be resumed')
    .argument('<run>', 'its id, or a part of it')
    .addOption(dataOption())
    .option('--kill', 'at once; what was trained since its last checkpoint is done again when it is resumed')
    .action((run: string, options: Options) => perform((to) => stop(run, options, to)));
};

async function stop(name: string, { data, kill }: Options, to: Surroundings): Promise<Outcome> {
  const runs = new Runs(data);
  const { id } = await runs.find(name);
  to.onInterrupt('Not waiting any more: the run stops when its checkpoint is written.');
  if (kill !== true) process.stderr.write(`Stopping ${id}; it writes a checkpoint first …\n`);
  try {
    return toldOf(await stopRun(runs, id, { signal: to.signal, atOnce: kill === true }), kill !== true);
  } catch (error) {
    if (!to.signal.aborted) throw error;
    return toldOf(await runs.find(id), false);
  }
}
