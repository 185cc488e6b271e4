import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, readdir, stat, statfs } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import type { z } from 'zod';
import { jsonOrUndefined, isTooDeep } from '../json';
import { MB, openRegular, readText } from '../regularFile';
import { ifThere, writeAtomically } from '../trajectory/files';

/** Foreign text could contain a path; an id is the name of one folder. */
export const isRunId = (text: string): boolean =>
  text !== '' && text !== '.' && text !== '..' && text === basename(text);

/**
 * `<data folder>/runs/<id>/`. Tandem writes `run.json`, `data/`, `queued.json`, `launch.json`, `trainer.log`, `stop`,
 * `finish`, `killed.json`, `told.json`, `notes.json` and `evaluations/`; the trainer writes all others.
 */
export const runFiles = {
  configuration: 'run.json',
  /** The configuration with which the run began, and the commit of a base on the hub. */
  begun: 'configuration.json',
  /** Taken from the log, with a report on their selection. */
  trajectories: join('data', 'trajectories.jsonl'),
  preferences: join('data', 'preferences.jsonl'),
  feedback: join('data', 'feedback.jsonl'),
  selection: join('data', 'selection.json'),
  /** Counts of dialogues that other runs learned from, if this run began with their models or rows. */
  inherited: join('data', 'inherited.json'),
  queued: 'queued.json',
  launch: 'launch.json',
  process: 'process.json',
  job: 'cluster.json',
  ray: 'ray',
  /** A trainer at work touches it every 30 seconds. */
  alive: 'alive',
  events: 'events.jsonl',
  /** Output of the trainer and its libraries; each launch is appended. */
  log: 'trainer.log',
  stop: 'stop',
  /** Asks the trainer to end the policy's training and write the model; removed when the run is done. */
  finish: 'finish',
  /** Written when a trainer is killed on purpose; it explains why the trainer is gone. */
  killed: 'killed.json',
  /** The ending that a person was notified about. */
  told: 'told.json',
  notes: 'notes.json',
  /** The position up to which `tandem track` has exported figures to TensorBoard or trackio (track.py). */
  tracked: 'tracked.json',
  /** Evaluations on held-out tasks (evaluation/loop/evaluationCache.ts). */
  evaluations: 'evaluations',
  checkpoints: 'checkpoints',
  /** Final checkpoint, from which another run can continue; absent when it would be too large. */
  kept: 'kept',
  model: 'model',
  critic: 'critic',
} as const;

export const modelOf = ({ folder }: { readonly folder: string }): string => join(folder, runFiles.model);

/** ONNX graphs are needed to play on this machine. */
export const canPlay = (run: { readonly folder: string }): boolean => hasGraphs(modelOf(run));

/** True if the model that the run began with has graphs, too. */
export const canStartPlay = ({ base }: { readonly base: string }): boolean =>
  isAbsolute(base) && hasGraphs(base);

export const hasGraphs = (folder: string): boolean => existsSync(join(folder, 'onnx'));

/** Maximum size of a finished run's checkpoints; same as `KEPT_BYTES` of the trainer (run/run.py). */
export const KEPT_GB = 2;

export const BEING_PREPARED = '.unfinished';

export function runsFolderOf(dataFolder: string): string {
  return join(dataFolder, 'runs');
}

const SUFFIX_LENGTH = 4;

/** Sorts by time (UTC) and differs between windows: `20261120-220501-k3f9`. */
export function newRunId(): string {
  const time = new Date().toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const suffix = randomInt(36 ** SUFFIX_LENGTH).toString(36);
  return `${time}-${suffix.padStart(SUFFIX_LENGTH, '0')}`;
}

/** The largest records are evaluations of many tasks. */
export const MAX_RECORD_BYTES = 64 * MB;

/**
 * Undefined when the file is absent, incomplete or of another shape.
 * @throws {Fault} `file/not-regular`, `file/too-large`
 */
export async function readWhole<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await ifThere(() => readText(file, MAX_RECORD_BYTES));
  if (text === undefined) return undefined;
  const value = jsonOrUndefined(text);
  return isTooDeep(value) ? undefined : schema.safeParse(value).data;
}

export async function writeWhole(file: string, value: object): Promise<void> {
  await writeAtomically(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Begins each launch in `trainer.log`. */
export const LAUNCH_LINE = '--- launched ';

const LAST_BYTES = 16 * 1024;
const LAST_LINES = 20;

/** End of the trainer's output since its last launch, which may explain why it died. */
export async function lastLines(folder: string): Promise<string[]> {
  const handle = await ifThere(() => openRegular(join(folder, runFiles.log)));
  if (handle === undefined) return [];
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(size, LAST_BYTES));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, size - buffer.length);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    const whole = buffer.length < size ? lines.slice(1) : lines;
    const launched = whole.findLastIndex((line) => line.startsWith(LAUNCH_LINE));
    return whole
      .slice(launched + 1)
      .map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1).trimEnd()) // last state of a bar
      .filter((line) => line !== '')
      .slice(-LAST_LINES);
  } finally {
    await handle.close();
  }
}

/** Less than the trainer reserves on the disk for its last message (run/disk_space.py). */
const FULL_BYTES = 64 * 1024;

/** True if a last message would not fit; undefined where the disk does not report its space. */
export async function isFull(folder: string): Promise<boolean | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < FULL_BYTES;
  } catch {
    // The folder may be gone, or on a share that does not support this; neither may hide the run or others.
    return undefined;
  }
}

/** False also for a place that cannot be looked at: its reader reports the reason. */
export const isFolder = (place: string): Promise<boolean> =>
  stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );

export async function diskUse(folder: string): Promise<number> {
  const entries = await ifThere(() => readdir(folder, { recursive: true, withFileTypes: true }));
  const files = (entries ?? []).filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(
      async ({ parentPath, name }) => (await ifThere(() => lstat(join(parentPath, name))))?.size ?? 0,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Fields of `data` that list files of rows. */
export const ROW_FILES: readonly string[] = ['trajectories', 'earlier', 'preferences'];
