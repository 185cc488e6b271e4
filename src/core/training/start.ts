import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Fault, messageOf } from '../fault';
import { ifThere, isErrorCode, writeAtomically } from '../trajectory/files';
import { beginOf } from '../trajectory/running';
import { checkConfiguration, examine, planOf, type Plan } from './checks';
import type { Configuration } from './configuration';
import { prepareData, type PrepareOptions } from './data/prepare';
import type { SelectionReport } from './data/report';
import { launch } from './launch';
import { launchSchema, mayLive, type Launch } from './process';
import { BEING_PREPARED, newRunId, readWhole, runFiles } from './runFolder';
import type { Run, Runs } from './runs';
import type { Trainer } from './trainer';

export interface StartOptions extends Omit<PrepareOptions, 'onProgress'> {
  readonly configuration: Configuration;
  readonly trainer: Trainer;
  /** This machine was found fit for such a run a moment ago, and is not looked at again: a second look takes long. */
  readonly examined?: boolean;
  /** Told what is being done: `data` with how far it is, `checks` of configuration and machine, `plan`, `launch`. */
  readonly onProgress?: (what: Preparing, done?: number, total?: number) => void;
}

export type Preparing = 'data' | 'checks' | 'plan' | 'launch';

/**
 * Makes a run: prepares its data, has the trainer check its configuration and the machine, and launches it, detached.
 * The run's folder appears when everything is in it, so that a run that cannot be started leaves nothing.
 *
 * @throws {Fault} `training/bad-configuration`, `training/no-log`, `training/no-data`, `training/unfit-machine`,
 * `training/not-written`, `training/python-not-started`
 * @throws the signal's reason when it is aborted before the launch
 */
export async function startRun(runs: Runs, options: StartOptions): Promise<Run> {
  const { id, folder } = await prepareRun(runs, options);
  options.onProgress?.('launch');
  await launch(options.trainer, folder);
  return runs.find(id);
}

/** The same without the launch, which is left to somebody else: to torchrun on several machines. Faults as `startRun`. */
export async function prepareRun(runs: Runs, options: StartOptions): Promise<Run> {
  const id = newRunId();
  const folder = join(runs.folder, id);
  await inUnfinished(runs, id, async (unfinished) => {
    await prepare(unfinished, options);
    await check(unfinished, options);
    options.signal?.throwIfAborted();
    await rm(join(unfinished, OWNER_FILE));
    await rename(unfinished, folder);
  });
  return runs.find(id);
}

/** What a run would be: nothing is kept, nothing is launched. Faults as `startRun`. */
export async function planRun(
  runs: Runs,
  options: StartOptions,
): Promise<{ readonly plan: Plan; readonly selection?: SelectionReport }> {
  return inUnfinished(runs, newRunId(), async (unfinished) => {
    const selection = await prepare(unfinished, options);
    options.onProgress?.('plan');
    const plan = await planOf(options.trainer, unfinished, options.configuration.from, options.signal);
    return { plan, ...(selection && { selection }) };
  });
}

/** Gives `work` a folder that is gone when it ends, unless it was renamed. */
async function inUnfinished<T>(runs: Runs, id: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(runs.folder, `${id}${BEING_PREPARED}`);
  try {
    await mkdir(runs.folder, { recursive: true });
    await removeAbandoned(runs);
    await mkdir(folder);
    try {
      await writeOwner(folder);
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } catch (error) {
    throw isErrorCode(error, ...UNWRITABLE) ? notWritten(runs.folder, error) : error;
  }
}

const UNWRITABLE = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EEXIST'];

function notWritten(folder: string, cause: unknown): Fault {
  const message = `No run can be made in ${folder}: ${messageOf(cause)}. Make room or give permission, or name another data folder.`;
  return new Fault('training/not-written', message, { cause });
}

async function prepare(folder: string, options: StartOptions): Promise<SelectionReport | undefined> {
  const { forTrainer, selection } = options.configuration;
  const { onProgress } = options;
  let { data } = forTrainer;
  let report: SelectionReport | undefined;
  if (selection !== undefined) {
    report = await prepareData(selection, folder, {
      prompts: options.prompts,
      signal: options.signal,
      onProgress: ({ done, total }) => onProgress?.('data', done, total),
    });
    // Relative, so that the folder can be moved. What is no list is left to the trainer to refuse.
    const { trajectories = [] } = data;
    const rows = runFiles.trajectories.replaceAll('\\', '/');
    data = {
      ...data,
      trajectories: Array.isArray(trajectories) ? [rows, ...(trajectories as unknown[])] : trajectories,
    };
  }
  const text = `${JSON.stringify({ ...forTrainer, data }, undefined, 2)}\n`;
  await writeAtomically(join(folder, runFiles.configuration), (file) => file.writeFile(text));
  return report;
}

/** Both at once, because each has torch to import; what is wrong with the configuration is told first. */
async function check(folder: string, options: StartOptions): Promise<void> {
  const { trainer, configuration, examined, onProgress } = options;
  onProgress?.('checks');
  if (examined === true) {
    await checkConfiguration(trainer, folder, configuration.from, options.signal);
    return;
  }
  const enough = new AbortController();
  const signal = AbortSignal.any([enough.signal, ...(options.signal ? [options.signal] : [])]);
  const machine = examine(trainer, { folder, signal });
  // It may fail first, while nobody waits for it yet: that is heard below.
  machine.catch(() => undefined);
  try {
    await checkConfiguration(trainer, folder, configuration.from, signal);
  } catch (error) {
    enough.abort(error);
    await machine.catch(() => undefined); // the configuration is what is wrong
    throw error;
  }
  const failed = (await machine).filter(({ status }) => status === 'failed');
  if (failed.length === 0) return;
  const lines = failed.map(
    ({ name, saw, command, remedy }) => `\n${name}: ${saw}\n  ran ${command}\n  to mend: ${remedy}`,
  );
  throw new Fault('training/unfit-machine', `This machine cannot train yet:${lines.join('')}`);
}

/** Says whose preparation it is, so that what a killed process left can be told from what is being made. */
const OWNER_FILE = 'preparing.json';
/** A folder without an owner is younger than this, or its process was killed before it could write it. */
const OWNERLESS_MS = 60_000;

async function writeOwner(folder: string): Promise<void> {
  const { pid, argv } = process;
  const started = new Date().toISOString();
  const owner: Launch = { pid, host: hostname(), started, began: await beginOf(pid), command: argv };
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(owner));
}

async function removeAbandoned(runs: Runs): Promise<void> {
  for (const name of await readdir(runs.folder)) {
    if (!name.endsWith(BEING_PREPARED)) continue;
    const folder = join(runs.folder, name);
    const owner = await readWhole(join(folder, OWNER_FILE), launchSchema);
    const isLeft = owner === undefined ? await isOld(folder) : !(await mayLive(owner));
    if (isLeft) await rm(folder, { recursive: true, force: true });
  }
}

async function isOld(folder: string): Promise<boolean> {
  const there = await ifThere(() => stat(folder));
  return there !== undefined && Date.now() - there.mtimeMs > OWNERLESS_MS;
}
