import path from 'node:path';
import { continueRun } from '../../core/training/continue';
import { resumeRun } from '../../core/training/lifecycle';
import { Runs } from '../../core/training/runs';
import { wholeNumber, wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { followRun } from '../following';
import { dataOption } from '../play';
import { openShippedTrainer } from '../resources';
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
    .description('resume a run that was stopped or failed, from its last checkpoint')
    .argument('<run>', 'its id, or a part of it')
    .addOption(dataOption())
    .option(
      '--more-epochs <n>',
      'continue a run that is done in a new run, for this many more epochs of the policy; 0 trains what was left of a run that ended early',
      wholeNumber('--more-epochs', 0),
    )
    .option(
      '--take-over',
      'resume a lost run, when its trainer is no longer running on the machine that it ran on',
    )
    .option('--follow', 'show the run until it is over; Ctrl+C leaves it running')
    .action((run: string, options: Options) => perform((to) => resume(run, options, to)));
};

async function resume(
  name: string,
  { data, follow, moreEpochs: epochs, takeOver = false }: Options,
  to: CliContext,
): Promise<CommandResult> {
  const runs = new Runs(data);
  const found = await runs.find(name);
  // Any other run that failed can be resumed.
  if (found.state === 'failed' && !found.canResume) throw wrongUse(found.message ?? 'It cannot be read.');
  const trainer = await openShippedTrainer(to);
  const { id, changedAt } =
    epochs === undefined
      ? found
      : await continueRun(runs, found.id, {
          epochs,
          name: found.name === '' ? '' : `${found.name}, continued`,
        });
  const run = await resumeRun(runs, id, trainer, { takeOver, prompts: path.join(to.assets, 'prompts') });
  const goesOn = `The run ${id} goes on, in process ${run.process?.pid ?? '?'}.`;
  if (follow !== true) return { summary: run, print: () => goesOn };
  say(goesOn);
  return followRun(runs, id, to, changedAt);
}
