import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../fault';
import type { RunConfiguration } from '../../training/configuration';
import { resumeRun, stopRun } from '../../training/lifecycle';
import { advance, type Progress } from '../../training/progress';
import { modelOf, runFiles } from '../../training/runFolder';
import type { Run, Runs } from '../../training/runs';
import { startRun, type Preparing } from '../../training/start';
import type { Trainer } from '../../training/trainer';
import { claimIn } from '../../trajectory/claim';
import type { LeaveOut } from '../../trajectory/export/selection';
import { ifThere } from '../../trajectory/files';
import type { StageProgress } from './plan';

export interface TrainedOptions {
  readonly runs: Runs;
  readonly configuration: RunConfiguration;
  /**
   * Digest of the configuration and its data; the run is found again by it, because it is the run's name in
   * `run.json`.
   */
  readonly key: string;
  /** Shown instead of the key. */
  readonly name?: string | undefined;
  readonly trainer: Trainer;
  readonly prompts: string;
  readonly leaveOut?: LeaveOut;
  /** This machine was found fit for such a run a moment ago. */
  readonly examined?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: TrainedProgress) => void;
}

export type TrainedProgress =
  { readonly preparing: Preparing } | { readonly run: string; readonly progress: Progress };

export interface TrainedResult {
  readonly run: Run;
  readonly model: string;
  /** Absent if the method has no critic. */
  readonly critic?: string;
}

/**
 * The result of the run of this key. If the run is not done yet, it is started, resumed or followed until it is over.
 * A run outlives this process: a later call with the same key finds it.
 * @throws {Fault} `loop/not-trained` when the run failed, died or was stopped by a user; as `startRun`
 * @throws the signal's reason when it is aborted; the run then writes a checkpoint and stops
 */
export async function trained(options: TrainedOptions): Promise<TrainedResult> {
  const { runs, signal } = options;
  const { id, wasDone } = await found(options);
  try {
    if (!wasDone) await follow(id, options);
  } catch (error) {
    if (signal?.aborted === true) await stop(runs, id);
    throw error;
  }
  return resultOf(await runs.find(id));
}

/** The claim keeps two commands from starting the run twice. */
async function found(options: TrainedOptions): Promise<{ readonly id: string; readonly wasDone: boolean }> {
  const { runs, key, name, trainer, configuration, prompts, leaveOut, examined, signal, onProgress } =
    options;
  const claim = await claimIn(join(runs.dataFolder, 'claims'), `trained-${key}`, `The run ${key}`);
  try {
    const named = await runs.configuredAs(key);
    const run = named.find(({ state }) => state === 'done') ?? named.find((one) => one.isLive) ?? named[0];
    signal?.throwIfAborted();
    if (run !== undefined) {
      if (run.canResume) await resumeRun(runs, run.id, trainer, { prompts });
      return { id: run.id, wasDone: run.state === 'done' };
    }
    const { id } = await startRun(runs, {
      configuration: { ...configuration, forTrainer: { ...configuration.forTrainer, name: key } },
      ...{ trainer, prompts, leaveOut, examined, signal, name },
      onProgress: (preparing) => onProgress?.({ preparing }),
    });
    return { id, wasDone: false };
  } finally {
    await claim.release();
  }
}

async function follow(id: string, { runs, signal, onProgress }: TrainedOptions): Promise<void> {
  let progress: Progress | undefined;
  for await (const event of runs.follow(id, { signal })) {
    progress = advance(progress, event);
    onProgress?.({ run: id, progress });
  }
}

/** Its result is no longer awaited, and a person who pressed Ctrl+C wants the machine back. */
async function stop(runs: Runs, id: string): Promise<void> {
  try {
    await stopRun(runs, id);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'training/not-running') throw error; // it ended by itself
  }
}

async function resultOf(run: Run): Promise<TrainedResult> {
  if (run.state !== 'done') throw notTrained(run);
  const critic = join(run.folder, runFiles.critic);
  const hasCritic = (await ifThere(() => stat(critic))) !== undefined;
  return { run, model: modelOf(run), ...(hasCritic && { critic }) };
}

function notTrained({ id, folder, state, message, lastLines }: Run): Fault {
  const why = message ?? lastLines.at(-1) ?? '';
  return new Fault(
    'loop/not-trained',
    `The training run ${id} has ${WORDS[state] ?? `ended as ${state}`}${why === '' ? '' : `: ${why.replace(/\.$/, '')}`}. Its log is ${join(folder, runFiles.log)}; the same command continues it.`,
  );
}

const WORDS: Readonly<Partial<Record<Run['state'], string>>> = {
  failed: 'failed',
  lost: 'been lost',
  stopped: 'been stopped',
};

const PREPARING = {
  data: 'takes its data from the log',
  checks: 'checks its configuration and this machine',
  plan: 'is planned',
  launch: 'is launched',
} as const;

export function trainingWork(told: TrainedProgress): Omit<StageProgress, 'state'> {
  if ('preparing' in told) return { what: PREPARING[told.preparing] };
  const { run, progress } = told;
  const { stage = 'prepare', step, steps, part, secondsLeft } = progress;
  return {
    run,
    what: part === undefined || part.name === stage ? stage : `${stage} ${part.name}`,
    ...(part !== undefined ? { done: part.done, total: part.total } : { done: step, total: steps }),
    ...(secondsLeft !== undefined && { secondsLeft }),
  };
}
