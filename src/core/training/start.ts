import { copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { SHORT, shortPrompt } from '../dialogue/shortPrompt';
import { Fault, messageOf } from '../fault';
import { ifThere, isErrorCode, UNWRITABLE, writeAtomically } from '../trajectory/files';
import { beginOf } from '../trajectory/running';
import { checkConfiguration, examine, planOf, UnfitMachine, type Check, type Plan } from './checks';
import type { Configuration } from './configuration';
import { writeQueued } from './control';
import { prepareData, writeReport, type PrepareOptions } from './data/prepare';
import type { SelectionReport } from './data/report';
import type { TrainedOn } from './data/trainedOn';
import { launch } from './launch';
import type { Planner } from './planner';
import { launchSchema, mayLive, type Launch } from './process';
import { BEING_PREPARED, newRunId, readWhole, runFiles } from './runFolder';
import type { Run, Runs } from './runs';
import type { Trainer } from './trainer';

export interface StartOptions extends Omit<PrepareOptions, 'onProgress'> {
  readonly configuration: Configuration;
  readonly trainer: Trainer;
  /** This machine was found fit for such a run a moment ago, and is not looked at again: a second look takes long. */
  readonly examined?: boolean;
  /** It is not launched but waits for its turn, which `beginNext` gives it. */
  readonly queued?: boolean;
  /** Told what is being done: `data` with how far it is, `checks` of configuration and machine, `plan`, `launch`. */
  readonly onProgress?: (what: Preparing, done?: number, total?: number) => void;
}

export type Preparing = 'data' | 'checks' | 'plan' | 'launch';

/**
 * Makes a run: prepares its data, has the trainer check its configuration and the machine, and launches it, detached,
 * or puts it into the queue. The run's folder appears when everything is in it, so that a run that cannot be started leaves nothing.
 *
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

/** The same without the launch, which is left to somebody else: to torchrun on several machines. Faults as `startRun`. */
export async function prepareRun(runs: Runs, options: StartOptions): Promise<Run> {
  const id = await makeRun(runs, async (unfinished) => {
    const report = await prepare(unfinished, options);
    const trainedOn = await check(unfinished, options);
    if (report !== undefined) await writeReport(unfinished, { ...report, trained_on: trainedOn });
    if (options.queued === true) await writeQueued(unfinished);
    options.signal?.throwIfAborted();
  });
  return runs.find(id);
}

/**
 * Makes the folder of a new run, which appears when `fill` has put everything into it.
 * @returns its id
 */
export async function makeRun(runs: Runs, fill: (folder: string) => Promise<void>): Promise<string> {
  const id = newRunId();
  await inUnfinished(runs, id, async (unfinished) => {
    await fill(unfinished);
    await rm(join(unfinished, OWNER_FILE));
    await rename(unfinished, join(runs.folder, id));
  });
  return id;
}

/**
 * What a run would be: nothing is kept, nothing is launched. Faults as `startRun`.
 * @param planner plans it where many are planned one after another; left out, a process of its own does
 */
export async function planRun(
  runs: Runs,
  options: StartOptions,
  planner?: Planner,
): Promise<{ readonly plan: Plan; readonly selection?: SelectionReport }> {
  return inUnfinished(runs, newRunId(), async (unfinished) => {
    const selection = await prepare(unfinished, options);
    options.onProgress?.('plan');
    const { trainer, configuration, signal } = options;
    const plan = await (planner === undefined
      ? planOf(trainer, unfinished, configuration.from, signal)
      : planner.plan(unfinished, configuration.from, signal));
    return { plan, ...(selection && { selection }) };
  });
}

/**
 * Whether this machine can train as a configuration asks, without a look at its data.
 * @param again whether everything is looked at anew, as `examine` does
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
    throw isErrorCode(error, ...UNWRITABLE, 'ENOTDIR', 'EEXIST') ? notWritten(runs.folder, error) : error;
  }
}

function notWritten(folder: string, cause: unknown): Fault {
  const message = `No run can be made in ${folder}: ${messageOf(cause)}. Make room or give permission, or name another data folder.`;
  return new Fault('training/not-written', message, { cause });
}

async function prepare(folder: string, options: StartOptions): Promise<SelectionReport | undefined> {
  const { forTrainer, selection } = options.configuration;
  const { onProgress } = options;
  let data = await withOwnOpening(await withOwnRows(forTrainer.data, folder), folder, options.prompts);
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
  await writeConfiguration(folder, { ...forTrainer, data });
  return report;
}

/** Rows that stand in another run's folder are copied: that run may be deleted while this one still reads them. */
async function withOwnRows(
  data: Readonly<Record<string, unknown>>,
  folder: string,
): Promise<Readonly<Record<string, unknown>>> {
  const others = dirname(folder) + sep;
  const own = async (name: string, file: unknown, index: number): Promise<unknown> => {
    if (typeof file !== 'string' || !file.startsWith(others)) return file;
    const copy = `data/${name}-${index + 1}.jsonl`;
    await mkdir(join(folder, 'data'), { recursive: true });
    // One that is not there is left to the trainer to miss.
    const isCopied = await ifThere(() => copyFile(file, join(folder, copy)).then(() => true));
    return isCopied === true ? copy : file;
  };
  const entries = Object.entries(data).map(async ([name, value]) => {
    const isFiles = (name === 'trajectories' || name === 'preferences') && Array.isArray(value);
    return [name, isFiles ? await Promise.all(value.map((file, index) => own(name, file, index))) : value];
  });
  return Object.fromEntries(await Promise.all(entries)) as Readonly<Record<string, unknown>>;
}

/** The shipped prompt for small models is copied: the next version of Tandem may word it otherwise. */
async function withOwnOpening(
  data: Readonly<Record<string, unknown>>,
  folder: string,
  prompts: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (data.opening !== SHORT) return data;
  const copy = 'data/agent.md';
  await mkdir(join(folder, 'data'), { recursive: true });
  await copyFile(shortPrompt(prompts), join(folder, copy));
  return { ...data, opening: copy };
}

async function writeConfiguration(folder: string, configuration: object): Promise<void> {
  const text = `${JSON.stringify(configuration, undefined, 2)}\n`;
  await writeAtomically(join(folder, runFiles.configuration), (file) => file.writeFile(text));
}

/** Both at once, because each has torch to import; what is wrong with the configuration is told first. */
async function check(folder: string, options: StartOptions): Promise<TrainedOn> {
  const { trainer, configuration, examined, onProgress } = options;
  onProgress?.('checks');
  if (examined === true) return checkConfiguration(trainer, folder, configuration.from, options.signal);
  const enough = new AbortController();
  const signal = AbortSignal.any([enough.signal, ...(options.signal ? [options.signal] : [])]);
  const machine = examine(trainer, { folder, signal });
  // It may fail first, while nobody waits for it yet: that is heard below.
  machine.catch(() => undefined);
  let trainedOn: TrainedOn;
  try {
    trainedOn = await checkConfiguration(trainer, folder, configuration.from, signal);
  } catch (error) {
    enough.abort(error);
    await machine.catch(() => undefined); // the configuration is what is wrong
    throw error;
  }
  const failed = (await machine).filter(({ status }) => status === 'failed');
  if (failed.length > 0) throw new UnfitMachine(failed);
  return trainedOn;
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
    const owner = await readWhole(join(folder, OWNER_FILE), launchSchema());
    const isLeft = owner === undefined ? await isOld(folder) : !(await mayLive(owner));
    if (isLeft) await rm(folder, { recursive: true, force: true });
  }
}

async function isOld(folder: string): Promise<boolean> {
  const there = await ifThere(() => stat(folder));
  return there !== undefined && Date.now() - there.mtimeMs > OWNERLESS_MS;
}
