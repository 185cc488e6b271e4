import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, messageOf } from '../fault';
import { ifThere, isErrorCode, UNWRITABLE } from '../trajectory/files';
import { livingOwner, own } from '../trajectory/claim';
import { timeAt, type SignOfLife } from '../trajectory/heartbeat';
import { checkConfiguration, examine, planOf, UnfitMachine, type Check, type Plan } from './checks';
import type { RunConfiguration } from './configuration';
import { writeQueued } from './lifecycle';
import { fillRun, writeConfiguration, type FillOptions } from './data/fillRun';
import { writeReport, type PrepareOptions } from './data/prepare';
import type { SelectionReport, TrainedOn } from './data/report';
import type { WorkerMemory } from './cluster';
import { launch } from './launch';
import type { Planner } from './planner';
import { BEING_PREPARED, newRunId } from './runFolder';
import { changeNotes } from './runNotes';
import type { Run, Runs } from './runs';
import type { Trainer } from './trainer';

export interface StartOptions extends Omit<PrepareOptions, 'onProgress'> {
  readonly configuration: RunConfiguration;
  readonly trainer: Trainer;
  /** The machine has just been checked for such a run; the check takes long. */
  readonly examined?: boolean;
  /** `beginNext` launches the queued run. */
  readonly queued?: boolean;
  /** Shown instead of the name in the configuration. */
  readonly name?: string;
  /** `data` with the done part, `checks` of configuration and machine, `plan`, `launch`. */
  readonly onProgress?: (what: Preparing, done?: number, total?: number) => void;
}

export type Preparing = 'data' | 'checks' | 'plan' | 'launch';

/**
 * Prepares the data, has the trainer check configuration and machine, and launches the run, detached, or queues it.
 * The run's folder appears when it is complete, so that a run that cannot be started leaves nothing behind.
 * @throws {Fault} `training/bad-configuration`, `training/no-log`, `training/no-data`, `training/unfit-machine`,
 * `training/not-written`, `training/python-not-started`
 * @throws the signal's reason when it is aborted before the launch
 */
export async function startRun(runs: Runs, options: StartOptions): Promise<Run> {
  const run = await prepareRun(runs, options);
  if (options.queued === true) return run;
  options.onProgress?.('launch');
  await launch(options.trainer, run.folder);
  return runs.find(run.id);
}

/** Makes a run as `startRun`, without the launch, which is left to torchrun on several machines. */
export async function prepareRun(runs: Runs, options: StartOptions): Promise<Run> {
  const id = await makeRun(runs, async (unfinished) => {
    const report = await fillRun(unfinished, filling(options));
    const trainedOn = await check(unfinished, options);
    if (report !== undefined) await writeReport(unfinished, { ...report, trained_on: trainedOn });
    const { name, queued } = options;
    if (name !== undefined) await changeNotes(unfinished, () => ({ name }));
    if (queued === true) await writeQueued(unfinished);
    options.signal?.throwIfAborted();
  });
  return runs.find(id);
}

/** The folder appears when `fill` has completed it. @returns the run's id */
export async function makeRun(runs: Runs, fill: (folder: string) => Promise<void>): Promise<string> {
  const id = newRunId();
  await inUnfinished(runs, id, async (unfinished, owner) => {
    await fill(unfinished);
    await owner.end();
    await rename(unfinished, join(runs.folder, id));
  });
  return id;
}

/**
 * Keeps and launches nothing. Throws as `startRun`.
 * @param by.planner quicker for several plans in a row; by default a process is started for this one
 * @param by.worker the place of each worker on the run's cluster; only a planner plans for it
 */
export async function planRun(
  runs: Runs,
  options: StartOptions,
  { planner, worker }: { readonly planner?: Planner; readonly worker?: WorkerMemory } = {},
): Promise<{ readonly plan: Plan; readonly selection?: SelectionReport }> {
  return inUnfinished(runs, newRunId(), async (unfinished) => {
    const selection = await fillRun(unfinished, filling(options));
    options.onProgress?.('plan');
    const { trainer, configuration, signal } = options;
    const plan = await (planner === undefined
      ? planOf(trainer, unfinished, configuration.from, signal)
      : planner.plan(unfinished, configuration.from, { signal, worker }));
    return { plan, ...(selection && { selection }) };
  });
}

/**
 * Does not read the data.
 * @param again as in `examine`
 * @throws {Fault} `training/trainer-broken`, `training/not-written`, `training/python-not-started`
 */
export async function examineRun(
  runs: Runs,
  { configuration, trainer, signal }: Pick<StartOptions, 'configuration' | 'trainer' | 'signal'>,
  again: boolean,
): Promise<readonly Check[]> {
  return inUnfinished(runs, newRunId(), async (unfinished) => {
    await writeConfiguration(unfinished, configuration.forTrainer);
    return examine(trainer, { folder: unfinished, again, signal });
  });
}

/** The folder is removed afterwards, unless `work` has renamed it. */
async function inUnfinished<T>(
  runs: Runs,
  id: string,
  work: (folder: string, owner: SignOfLife) => Promise<T>,
): Promise<T> {
  const folder = join(runs.folder, `${id}${BEING_PREPARED}`);
  try {
    await mkdir(runs.folder, { recursive: true });
    await removeAbandoned(runs);
    await mkdir(folder);
    try {
      const owner = await own(join(folder, OWNER_FILE));
      try {
        return await work(folder, owner);
      } finally {
        await owner.end();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } catch (error) {
    throw isErrorCode(error, ...UNWRITABLE, 'ENOTDIR', 'EEXIST') ? notWritten(runs.folder, error) : error;
  }
}

function notWritten(folder: string, cause: unknown): Fault {
  const message = `No run can be made in ${folder}: ${messageOf(cause)}. Free some space, give permission, or name another data folder.`;
  return new Fault('training/not-written', message, { cause });
}

const filling = ({ configuration, prompts, leaveOut, signal, onProgress }: StartOptions): FillOptions => ({
  ...{ configuration, prompts, leaveOut, signal },
  onProgress: ({ done, total }) => onProgress?.('data', done, total),
});

/** Both checks at once, because each has to import torch; a fault of the configuration is reported first. */
async function check(folder: string, options: StartOptions): Promise<TrainedOn> {
  const { trainer, configuration, examined, onProgress } = options;
  onProgress?.('checks');
  if (examined === true) return checkConfiguration(trainer, folder, configuration.from, options.signal);
  const enough = new AbortController();
  const signal = AbortSignal.any([enough.signal, ...(options.signal ? [options.signal] : [])]);
  const machine = examine(trainer, { folder, signal });
  // A failure before it is awaited would be an unhandled rejection; it is thrown below.
  machine.catch(() => undefined);
  let trainedOn: TrainedOn;
  try {
    trainedOn = await checkConfiguration(trainer, folder, configuration.from, signal);
  } catch (error) {
    enough.abort(error);
    await machine.catch(() => undefined); // the configuration's fault is reported instead
    throw error;
  }
  const failed = (await machine).filter(({ status }) => status === 'failed');
  if (failed.length > 0) throw new UnfitMachine(failed);
  return trainedOn;
}

/** Names the process that prepares the run, so that folders of killed processes can be removed. */
const OWNER_FILE = 'preparing.json';
/** A younger folder may not have its owner's file yet. */
const OWNERLESS_MS = 60_000;

async function removeAbandoned(runs: Runs): Promise<void> {
  const names = (await readdir(runs.folder)).filter((name) => name.endsWith(BEING_PREPARED));
  if (names.length === 0) return;
  const now = await timeAt(runs.folder);
  for (const name of names) {
    const folder = join(runs.folder, name);
    const made = await ifThere(() => stat(folder));
    if (made === undefined || now - made.mtimeMs <= OWNERLESS_MS) continue;
    if (!(await livingOwner(join(folder, OWNER_FILE), now)))
      await rm(folder, { recursive: true, force: true });
  }
}
