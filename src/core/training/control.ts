import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostname } from 'node:os';
import { Fault } from '../fault';
import { ifThere, isErrorCode, writeAtomically } from '../trajectory/files';
import { claimIn, type Claim } from '../trajectory/claim';
import { launch } from './launch';
import type { Launch, Queued, TrainerProcess } from './process';
import { trainerOf, type Run, type Runs } from './runs';
import { silentSince, timeAt } from './silence';
import { runFiles } from './runFolder';
import type { Trainer } from './trainer';
import { pause } from './pause';

const LOOK_EVERY_MS = 250;

export interface StopOptions {
  readonly signal?: AbortSignal;
  /** Do not wait for the end of a micro-batch and for a checkpoint: what was trained since the last one is repeated. */
  readonly atOnce?: boolean;
}

/**
 * Asks a run to stop and waits until it has. It finishes its micro-batch and writes a checkpoint (`finishRun` asks for a
 * model). One that waits for its turn does not wait any more.
 * @returns how the run stands then
 * @throws {Fault} `training/not-running`, `training/other-host`
 * @throws the signal's reason when it is aborted; the request stands
 */
export async function stopRun(runs: Runs, id: string, options: StopOptions = {}): Promise<Run> {
  const run = await runs.find(id);
  if (run.state === 'queued') return unqueueRun(runs, run.id);
  const { latest, isLive } = await trainerOf(run.folder);
  if (latest === undefined || !isLive) {
    throw new Fault('training/not-running', `The run ${run.id} is not running; it is ${run.state}.`);
  }
  if (options.atOnce === true) {
    refuseElsewhere(run, latest);
    await writeWhole(run.folder, runFiles.killed, { at: new Date().toISOString() });
    kill(latest);
  }
  while ((await trainerOf(run.folder)).isLive) {
    options.signal?.throwIfAborted();
    // Again each time: a trainer that is just starting removes a request that it takes for an old one.
    if (options.atOnce !== true) await request(run.folder);
    await pause(LOOK_EVERY_MS, options.signal);
  }
  await rm(join(run.folder, runFiles.stop), { force: true });
  return runs.find(run.id);
}

/** The file stays as it is when it is there. */
async function request(folder: string): Promise<void> {
  await ifThere(() => writeFile(join(folder, runFiles.stop), '', { flag: 'a' }));
}

function refuseElsewhere({ id }: Run, { host }: TrainerProcess | Launch): void {
  if (host === hostname()) return;
  throw new Fault('training/other-host', `The run ${id} is on ${host}, and can only be killed there.`);
}

function kill(trainer: TrainerProcess | Launch): void {
  const { pid } = trainer;
  try {
    // torchrun ends the processes that it has started, which are in no group of its own; killed, it would leave them.
    if ('processes' in trainer) {
      process.kill(pid, 'SIGTERM');
      return;
    }
    // What we launched leads a group, to which its own processes belong.
    const isGroup = 'began' in trainer && process.platform !== 'win32';
    process.kill(isGroup ? -pid : pid, 'SIGKILL');
  } catch (error) {
    if (!isErrorCode(error, 'ESRCH')) throw error; // it ended by itself
  }
}

/** Of a run that is lost somebody has to say that its trainer is not at work any more on the machine it ran on. */
export interface TakingOver {
  readonly takeOver?: boolean;
}

/**
 * Goes on with a run that was stopped, failed, died or is lost, from its last checkpoint.
 * @returns how the run stands
 * @throws {Fault} `training/done`, `training/running`, `training/lost`, `training/python-not-started`
 */
export async function resumeRun(
  runs: Runs,
  id: string,
  trainer: Trainer,
  taking: TakingOver = {},
): Promise<Run> {
  const run = await runs.find(id);
  const claim = await claimLaunch(runs, run.id);
  try {
    await refuse((await runs.read(run.id)) ?? run, taking);
    await rm(join(run.folder, runFiles.stop), { force: true });
    await launch(trainer, run.folder);
    await rm(join(run.folder, runFiles.queued), { force: true });
  } finally {
    await claim.release();
  }
  return runs.find(run.id);
}

/**
 * Puts a run that is not at work behind those that wait for their turn already; `beginNext` begins it.
 * @throws {Fault} `training/done`, `training/running`, `training/lost`
 */
export async function queueRun(runs: Runs, id: string, taking: TakingOver = {}): Promise<Run> {
  const run = await runs.find(id);
  const claim = await claimLaunch(runs, run.id);
  try {
    const now = (await runs.read(run.id)) ?? run;
    await refuse(now, taking);
    if (now.state !== 'queued') await writeQueued(run.folder);
  } finally {
    await claim.release();
  }
  return runs.find(run.id);
}

/** A run that waited for its turn does not wait any more, and can be resumed. */
export async function unqueueRun(runs: Runs, id: string): Promise<Run> {
  const run = await runs.find(id);
  const claim = await claimLaunch(runs, run.id);
  try {
    await rm(join(run.folder, runFiles.queued), { force: true });
  } finally {
    await claim.release();
  }
  return runs.find(run.id);
}

export async function writeQueued(folder: string): Promise<void> {
  const queued: Queued = { at: new Date().toISOString(), host: hostname() };
  await writeWhole(folder, runFiles.queued, queued);
}

async function writeWhole(folder: string, name: string, content: object): Promise<void> {
  await writeAtomically(join(folder, name), (file) => file.writeFile(JSON.stringify(content)));
}

/**
 * Removes a run with everything that it has made.
 * @param remove takes the folder away, to where it can be brought back from if there is such a place
 * @throws {Fault} `training/running`, `training/lost`
 */
export async function removeRun(
  runs: Runs,
  id: string,
  remove: (folder: string) => PromiseLike<void>,
  taking: TakingOver = {},
): Promise<void> {
  const run = await runs.find(id);
  const claim = await claimLaunch(runs, run.id);
  try {
    const now = (await runs.read(run.id)) ?? run;
    const { isLive, folder } = now;
    if (isLive) {
      throw new Fault('training/running', `The run ${run.id} is at work. Stop it first, then delete it.`);
    }
    await refuseLost(now, taking);
    await remove(folder);
  } finally {
    await claim.release();
  }
}

async function refuse(run: Run, taking: TakingOver): Promise<void> {
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

/** Whatever somebody says of its machine: what still writes is not taken over. */
async function refuseLost({ id, state, message, folder }: Run, { takeOver }: TakingOver): Promise<void> {
  if (state !== 'lost') return;
  if (takeOver !== true) throw new Fault('training/lost', `The run ${id} is lost. ${message}`);
  if ((await silentSince(folder, await timeAt(folder))) !== undefined) return;
  throw new Fault(
    'training/running',
    `The run ${id} is at work on another machine: its trainer still writes.`,
  );
}

/** So that two windows do not launch one run at the same moment. */
async function claimLaunch(runs: Runs, id: string): Promise<Claim> {
  try {
    return await claimIn(join(runs.dataFolder, 'claims'), `run-${id}`, `The run ${id}`);
  } catch (cause) {
    if (!(cause instanceof Fault) || cause.code !== 'trajectory/claimed') throw cause;
    const message = `The run ${id} is being started by another window or command at this moment; look again.`;
    throw new Fault('training/running', message, { cause });
  }
}
