import { resumeRun } from '../../core/training/control';
import { Runs } from '../../core/training/runs';
import type { Install, Outcome, Surroundings } from '../command';
import { followRun } from '../following';
import { dataOption } from '../play';
import { openShippedTrainer } from '../trainer';

interface Options {
  readonly data: string;
  readonly follow?: boolean;
}

export const installResume: Install = (program, perform) => {
  program
    .command('resume')
    .description('go on with a run that was stopped, failed or died, from its last checkpoint')
    .argument('<run>', 'its id, or a part of it')
    .addOption(dataOption())
    .option('--follow', 'show the run until it is over; Ctrl+C leaves it running')
    .action((run: string, options: Options) => perform((to) => resume(run, options, to)));
};

async function resume(name: string, { data, follow }: Options, to: Surroundings): Promise<Outcome> {
  const runs = new Runs(data);
  const { id, changedAt } = await runs.find(name);
  const run = await resumeRun(runs, id, await openShippedTrainer(to));
  const goesOn = `The run ${id} goes on, in process ${run.process?.pid ?? '?'}.`;
  if (follow !== true) return { summary: run, print: () => goesOn };
  process.stderr.write(`${goesOn}\n`);
  return followRun(runs, id, to, changedAt);
}
