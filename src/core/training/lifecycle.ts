import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostname } from 'node:os';
import { Fault } from '../fault';
import { ifThere, isErrorCode } from '../trajectory/files';
import { claimIn, type Claim } from '../trajectory/claim';
import { mayLive, timeAt } from '../trajectory/heartbeat';
import { fillOlderRun } from './data/fillRun';
import { launch } from './launch';
import { silentSince, trainerOf, type Launch, type Queued, type TrainerProcess } from './process';
import type { Run, Runs } from './runs';
import { runFiles, writeWhole } from './runFolder';
import type { Trainer } from './trainer';
import { pause } from './pause';

const POLL_INTERVAL_MS = 250;

interface StopOptions {
  readonly signal?: AbortSignal;
  /** Kills the trainer without a checkpoint: steps since the last one are repeated. */
  readonly atOnce?: boolean;
}

/**
 * Waits until the run has stopped. The trainer finishes its micro-batch and writes a checkpoint (`finishRun` ends with
 * a model instead). A queued run is taken out of the queue.
 * @throws {Fault} `training/not-running`, `training/other-host`
 * @throws the signal's reason when it is aborted; the request stands
 */
export async function stopRun(runs: Runs, id: string, options: StopOptions = {}): Promise<Run> {
  const run = await runs.find(id);
  if (run.state === 'queued') return unqueueRun(runs, run.id);
  const { latest, launch: launched } = await trainerOf(run.folder);
  if (latest === undefined || !run.isLive) {
    throw new Fault('training/not-running', `The run ${run.id} is not running; it is ${run.state}.`);
  }
  if (options.atOnce === true) {
    const process = launched?.isOnCluster === true && (await mayLive(launched)) ? launched : latest;
    refuseElsewhere(run, process);
    await writeWhole(join(run.folder, runFiles.killed), { at: new Date().toISOString() });
    await kill(process);
  }
  while ((await runs.find(run.id)).isLive) {
    options.signal?.throwIfAborted();
    // Repeated each time, because a trainer that is just starting removes the request as an old one.
    if (options.atOnce !== true)
      await ifThere(() => writeFile(join(run.folder, runFiles.stop), '', { flag: 'a' }));
    await pause(POLL_INTERVAL_MS, options.signal);
  }
  await rm(join(run.folder, runFiles.stop), { force: true });
  return runs.find(run.id);
}

function refuseElsewhere({ id }: Run, { host }: TrainerProcess | Launch): void {
  if (host === hostname()) return;
  throw new Fault('training/other-host', `The run ${id} is on ${host}, and can only be killed there.`);
}

async function kill(trainer: TrainerProcess | Launch): Promise<void> {
  const { pid, host, launcher } = trainer;
  // A torchrun that was started by hand would start its trainers again.
  const isLed = launcher !== undefined && (await mayLive({ pid: launcher, host }, 'tandem_trainer'));
  try {
    // SIGTERM lets torchrun end its processes, which have groups of their own, and lets the follower of a cluster's
    // job end that; SIGKILL would leave them behind.
    if (isLed || 'processes' in trainer || 'isOnCluster' in trainer) {
      process.kill(isLed ? launcher : pid, 'SIGTERM');
      return;
    }
    // A trainer that we launched leads a process group, to which its own processes belong.
    const isGroup = 'began' in trainer && process.platform !== 'win32';
    process.kill(isGroup ? -pid : pid, 'SIGKILL');
  } catch (error) {
    if (!isErrorCode(error, 'ESRCH')) throw error; // ESRCH: it has ended by itself
  }
}

/** The user confirms that the trainer of a lost run is no longer running on its machine. */
export interface TakeOverOptions {
  readonly takeOver?: boolean;
}

interface ResumeOptions extends TakeOverOptions {
  /** Needed to write the rows of a run of an older version. */
  readonly prompts?: string;
}

/**
 * Continues a run that was stopped, failed or is lost from its last checkpoint.
 * @throws {Fault} `training/done`, `training/running`, `training/lost`, `training/python-not-started`; for a run of an
 * older version also `training/no-log`, `training/no-data`
 */
export async function resumeRun(
  runs: Runs,
  id: string,
  trainer: Trainer,
  { prompts, ...taking }: ResumeOptions = {},
): Promise<Run> {
  return whileClaimed(runs, id, async (run) => {
    await refuse((await runs.read(run.id)) ?? run, taking);
    await rm(join(run.folder, runFiles.stop), { force: true });
    if (prompts !== undefined) await fillOlderRun(run.folder, prompts);
    await launch(trainer, run.folder);
    await rm(join(run.folder, runFiles.queued), { force: true });
  });
}

/** `beginNext` starts the run. @throws {Fault} `training/done`, `training/running`, `training/lost` */
export async function queueRun(runs: Runs, id: string, taking: TakeOverOptions = {}): Promise<Run> {
  return whileClaimed(runs, id, async (run) => {
    const now = (await runs.read(run.id)) ?? run;
    await refuse(now, taking);
    if (now.state !== 'queued') await writeQueued(run.folder);
  });
}

export async function unqueueRun(runs: Runs, id: string): Promise<Run> {
  return whileClaimed(runs, id, (run) => rm(join(run.folder, runFiles.queued), { force: true }));
}

export async function writeQueued(folder: string): Promise<void> {
  const queued: Queued = { at: new Date().toISOString(), host: hostname() };
  await writeWhole(join(folder, runFiles.queued), queued);
}

/**
 * @param remove deletes the folder, or moves it to the trash where there is one
 * @throws {Fault} `training/running`, `training/lost`
 */
export async function removeRun(
  runs: Runs,
  id: string,
  remove: (folder: string) => PromiseLike<void>,
  taking: TakeOverOptions = {},
): Promise<void> {
  const run = await runs.find(id);
  const claim = await claimLaunch(runs, run.id);
  try {
    const now = (await runs.read(run.id)) ?? run;
    const { isLive, folder } = now;
    if (isLive) {
      throw new Fault('training/running', `The run ${run.id} is running. Stop it first, then delete it.`);
    }
    await refuseLost(now, taking);
    await remove(folder);
  } finally {
    await claim.release();
  }
}

async function refuse(run: Run, taking: TakeOverOptions): Promise<void> {
  const { id, state, isLive, process } = run;
  if (isLive) {
    const { pid, host } = process!;
    throw new Fault(
      'training/running',
      `The run ${id} is ${state}, in process ${pid} on ${host}; \`tandem runs ${id} --follow\` shows it.`,
    );
  }
  if (state === 'done') {
    throw new Fault('training/done', `The run ${id} is done; its result is in its folder \`model\`.`);
  }
  await refuseLost(run, taking);
}

/** Refuses a lost run unless it may be taken over, and even then while its trainer still writes. */
async function refuseLost({ id, state, message, folder }: Run, { takeOver }: TakeOverOptions): Promise<void> {
  if (state !== 'lost') return;
  if (takeOver !== true) throw new Fault('training/lost', `The run ${id} is lost. ${message}`);
  if ((await silentSince(folder, await timeAt(folder))) !== undefined) return;
  throw new Fault(
    'training/running',
    `The run ${id} is running on another machine: its trainer still writes.`,
  );
}

async function whileClaimed(runs: Runs, id: string, work: (run: Run) => Promise<void>): Promise<Run> {
  const run = await runs.find(id);
  const claim = await claimLaunch(runs, run.id);
  try {
    await work(run);
  } finally {
    await claim.release();
  }
  return runs.find(run.id);
}

/** Two windows must not launch one run at the same moment. */
async function claimLaunch(runs: Runs, id: string): Promise<Claim> {
  try {
    return await claimIn(join(runs.dataFolder, 'claims'), `run-${id}`, `The run ${id}`);
  } catch (cause) {
    if (!(cause instanceof Fault) || cause.code !== 'trajectory/claimed') throw cause;
    const message = `Another window or command is just starting the run ${id}. Look again in a moment.`;
    throw new Fault('training/running', message, { cause });
  }
}

export const mayFinish = ({ state, request, progress }: Run): boolean =>
  state === 'running' &&
  request === undefined &&
  progress?.state === 'running' &&
  isPolicy(progress.stage) &&
  (progress.step ?? 0) > 0;

/** True for the policy stage of any round. */
const isPolicy = (stage = ''): boolean => /^policy(-\d+)?$/.test(stage);

/**
 * Asks a run to end its policy after the current step and to write the model of its best step; waits until the trainer
 * is gone. The request stands until the run is done: a run that is stopped, fails or is killed first obeys it after a
 * resume.
 * @throws {Fault} `training/not-running`, `training/no-policy`
 * @throws the signal's reason when it is aborted; the request stands
 */
export async function finishRun(
  runs: Runs,
  id: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Run> {
  const run = await runs.find(id);
  if (run.request !== 'finish') {
    refuseToFinish(run);
    await ifThere(() => writeFile(join(run.folder, runFiles.finish), '', { flag: 'a' }));
  }
  while ((await runs.read(run.id))?.isLive === true) await pause(POLL_INTERVAL_MS, signal);
  return runs.find(run.id);
}

function refuseToFinish(run: Run): void {
  const { id, isLive, state, request, progress } = run;
  if (mayFinish(run)) return;
  if (!isLive || request === 'stop') {
    const now = request === 'stop' ? 'stopping' : state;
    throw new Fault('training/not-running', `The run ${id} is not running; it is ${now}.`);
  }
  const { stage = 'prepare' } = progress ?? {};
  const message =
    stage === 'export'
      ? `The run ${id} is writing its model already.`
      : `The run ${id} has no policy yet that could be kept: it is ${state}, at ${stage}. Wait for the first steps of its policy, or stop it, which writes a checkpoint.`;
  throw new Fault('training/no-policy', message);
}
