import path from 'node:path';
import { Option } from 'commander';
import { Runs } from '../../core/training/runs';
import { track } from '../../core/training/convert';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { say } from '../output';
import { dataOption } from '../play';
import { openShippedTrainer } from '../resources';

interface Options {
  readonly data: string;
  readonly tensorboard?: string;
  readonly trackio?: string;
  readonly once?: boolean;
}

export const installTrack: Install = (program, perform) => {
  program
    .command('track')
    .description('show the figures of a run in TensorBoard or trackio, live or afterwards')
    .argument('<run>', 'its id, or a part of it')
    .addOption(dataOption())
    .addOption(
      new Option('--tensorboard <folder>', 'write event files that TensorBoard shows').conflicts('trackio'),
    )
    .option('--trackio <project>', 'log into a project of trackio on this machine')
    .option('--once', 'write what is there, and do not wait for more')
    .action((run: string, options: Options) => perform((to) => trackRun(run, options, to)));
};

async function trackRun(
  name: string,
  { data, tensorboard, trackio, once = false }: Options,
  to: CliContext,
): Promise<CommandResult> {
  const tracker =
    tensorboard === undefined
      ? trackio === undefined
        ? undefined
        : { trackio }
      : { tensorboard: path.resolve(tensorboard) };
  if (tracker === undefined) throw wrongUse('Give --tensorboard <folder> or --trackio <project>.');
  const { id, folder } = await new Runs(data).find(name);
  to.onInterrupt('Stopped; the same command continues from here.');
  const tracked = await track(await openShippedTrainer(to), folder, tracker, {
    once,
    signal: to.signal,
    onLine: say,
  });
  const shown =
    'tensorboard' in tracker
      ? `tensorboard --logdir ${tracker.tensorboard}`
      : `trackio show --project ${tracker.trackio}`;
  return {
    summary: { run: id, ...tracked },
    print: () => `${tracked.figures} new steps and evaluations of ${id}. To see them: ${shown}`,
  };
}
