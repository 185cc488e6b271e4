import { continueRun } from '../../core/training/continue';
import { resumeRun } from '../../core/training/control';
import { Runs } from '../../core/training/runs';
import { wholeNumber, type Install, type Outcome, type Surroundings } from '../command';
import { followRun } from '../following';
import { dataOption } from '../play';
import { openShippedTrainer } from '../trainer';
import { say } from '../output';

interface Options {
  readonly data: string;
  readonly follow?: boolean;
  readonly moreEpochs?: number;
  readonly takeOver?: boolean;
}

export const installResume: Install = (program, perform) => {
  program
    .command('resume')
    .description('go on with a run that was stopped, failed or died, from its last checkpoint')
    .argument('<run>', 'its id, or a part of it')
    .addOption(dataOption())
    .option(
      '--more-epochs <n>',
      'of one that is done: another run goes on where it has ended, for so many epochs of the policy; 0 of one that was finished early: for what was left of its own',
      wholeNumber('--more-epochs', 0),
    )
    .option(
      '--take-over',
      'also when it is lost: its trainer is not at work any more on the machine it ran on',
    )
    .option('--follow', 'show the run until it is over; Ctrl+C leaves it running')
    .action((run: string, options: Options) => perform((to) => resume(run, options, to)));
};

async function resume(
  name: string,
  { data, follow, moreEpochs: epochs, takeOver = false }: Options,
  to: Surroundings,
): Promise<Outcome> {
  const runs = new Runs(data);
  const found = await runs.find(name);
  const trainer = await openShippedTrainer(to);
  const { id, changedAt } =
    epochs === undefined
      ? found
      : await continueRun(runs, found.id, {
          epochs,
          name: found.name === '' ? '' : `${found.name}, continued`,
        });
  const run = await resumeRun(runs, id, trainer, { takeOver });
  const goesOn = `The run ${id} goes on, in process ${run.process?.pid ?? '?'}.`;
  if (follow !== true) return { summary: run, print: () => goesOn };
  say(goesOn);
  return followRun(runs, id, to, changedAt);
}
