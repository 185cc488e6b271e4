import path from 'node:path';
import { Option } from 'commander';
import { keptOf } from '../../core/evaluation/loop/evaluationCache';
import { RunResults, type RunResult } from '../../core/evaluation/comparison/measuredRuns';
import { continueRun } from '../../core/training/continue';
import { finishRun, resumeRun, stopRun } from '../../core/training/lifecycle';
import { Runs, type Run } from '../../core/training/runs';
import { track } from '../../core/training/convert';
import { wholeNumber, wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { dataOption } from '../play';
import { openShippedTrainer } from '../resources';
import { eventInWords, runInFull, runTable } from '../runWords';
import { say, StatusLine } from '../terminal';

const FOLLOW = ['--follow', 'show the run until it is over; Ctrl+C leaves it running'] as const;

interface ListOptions {
  readonly data: string;
  readonly follow?: boolean;
}

export const installRuns: Install = (program, perform) => {
  program
    .command('runs')
    .description('list the runs, or show one')
    .argument('[run]', 'its id, or a part of it')
    .addOption(dataOption())
    .option(...FOLLOW)
    .action(perform(show));
};

async function show(
  name: string | undefined,
  { data, follow }: ListOptions,
  to: CliContext,
): Promise<CommandResult> {
  const runs = new Runs(data);
  if (name !== undefined) {
    const run = await runs.find(name);
    return follow === true ? followRun(runs, run.id, to) : resultOf(run, false);
  }
  if (follow === true) throw wrongUse('Name the run to follow: tandem runs RUN --follow.');
  const listed = await runs.list();
  const results = new RunResults();
  await results.read(listed);
  return {
    rows: listed.map((run) => ({ ...run, evaluation: figuresOf(results.of(run)) })),
    summary: { runs: listed.length, running: listed.filter(({ isLive }) => isLive).length },
    print: () =>
      listed.length === 0
        ? `There are no runs in ${runs.folder}.`
        : runTable(listed, (run) => results.of(run)),
  };
}

/** Without the figures of each task. */
function figuresOf(result: RunResult | undefined): object | undefined {
  if (result === undefined) return undefined;
  const { setting, model, start, interval } = result;
  return {
    ...{
      title: setting.title,
      tasks: setting.tasks,
      success: model.figures.success,
      askF1: model.figures.askF1,
    },
    ...(start && { before: start.figures.success, interval }),
  };
}

const STEP_INTERVAL_MS = 5000;

/**
 * Prints on stderr until the run is over. The run itself survives Ctrl+C and the death of this process.
 * @param after time up to which events were shown before, ISO 8601
 */
export async function followRun(runs: Runs, id: string, to: CliContext, after = ''): Promise<CommandResult> {
  to.onInterrupt(`Detached: the run goes on. \`tandem runs ${id} --follow\` shows it again.`);
  const status = new StatusLine(STEP_INTERVAL_MS);
  try {
    for await (const event of runs.follow(id, { signal: to.signal })) {
      const line = event.at > after ? eventInWords(event) : undefined;
      if (line === undefined) continue;
      if (event.event === 'step' || event.event === 'progress') status.show(line);
      else status.say(line);
    }
  } catch (error) {
    if (!to.signal.aborted) throw error;
  } finally {
    status.end();
  }
  return resultOf(await runs.find(id), !to.signal.aborted);
}

/** @param isOver true if the run was followed to its end; the command then fails if the run did */
async function resultOf(run: Run, isOver: boolean): Promise<CommandResult> {
  const kept = await keptOf(run.folder);
  return {
    summary: run,
    print: () => runInFull(run, kept),
    failed: isOver && ['failed', 'lost'].includes(run.state),
  };
}

interface StopOptions {
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
    .action(perform(stop));
};

async function stop(
  name: string,
  { data, kill, finish }: StopOptions,
  to: CliContext,
): Promise<CommandResult> {
  const runs = new Runs(data);
  const { id } = await runs.find(name);
  const [when, doing] =
    finish === true
      ? ['is done when its model is written', `Finishing ${id}; it ends its step and writes its model`]
      : ['stops when its checkpoint is written', `Stopping ${id}; it writes a checkpoint first`];
  to.onInterrupt(`Not waiting any more: the run ${when}.`);
  if (kill !== true) say(`${doing} …`);
  try {
    if (finish === true) return await resultOf(await finishRun(runs, id, { signal: to.signal }), true);
    return await resultOf(
      await stopRun(runs, id, { signal: to.signal, atOnce: kill === true }),
      kill !== true,
    );
  } catch (error) {
    if (!to.signal.aborted) throw error;
    return resultOf(await runs.find(id), false);
  }
}

interface ResumeOptions {
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
    .option(...FOLLOW)
    .action(perform(resume));
};

async function resume(
  name: string,
  { data, follow, moreEpochs: epochs, takeOver = false }: ResumeOptions,
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

interface TrackOptions {
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
    .action(perform(trackRun));
};

async function trackRun(
  name: string,
  { data, tensorboard, trackio, once = false }: TrackOptions,
  to: CliContext,
): Promise<CommandResult> {
  const folder = tensorboard && path.resolve(tensorboard);
  const tracker = folder ? { tensorboard: folder } : trackio ? { trackio } : undefined;
  if (tracker === undefined) throw wrongUse('Give --tensorboard <folder> or --trackio <project>.');
  const run = await new Runs(data).find(name);
  to.onInterrupt('Stopped; the same command continues from here.');
  const options = { once, signal: to.signal, onLine: say };
  const tracked = await track(await openShippedTrainer(to), run.folder, tracker, options);
  const shown = folder ? `tensorboard --logdir ${folder}` : `trackio show --project ${trackio}`;
  return {
    summary: { run: run.id, ...tracked },
    print: () => `${tracked.figures} new steps and evaluations of ${run.id}. To see them: ${shown}`,
  };
}
