import { randomInt } from 'node:crypto';
import { open, readFile, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { z } from 'zod';
import { jsonOrUndefined } from '../json';
import { isTooDeep } from '../nesting';
import { ifThere } from '../trajectory/files';

/** Returns whether foreign text can be a run's id: the name of one folder, without a path. */
export const isRunId = (text: string): boolean =>
  text !== '' && text !== '.' && text !== '..' && text === basename(text);

/**
 * The files of a run, `<data folder>/runs/<id>/`. Tandem writes `run.json`, `data/`, `queued.json`, `launch.json`,
 * `trainer.log`, `stop`, `finish`, `killed.json`, `told.json`, `notes.json` and `evaluations/`; the trainer writes all
 * others.
 */
export const runFiles = {
  configuration: 'run.json',
  /** The configuration with which the run began, and the commit of a base on the hub. */
  begun: 'configuration.json',
  /** The rows that were taken from the log, and the report on how they were selected. */
  trajectories: join('data', 'trajectories.jsonl'),
  selection: join('data', 'selection.json'),
  /** Counts of dialogues that other runs learned from, with whose models or rows this run began. */
  inherited: join('data', 'inherited.json'),
  /** Present while the run is in the queue. */
  queued: 'queued.json',
  launch: 'launch.json',
  process: 'process.json',
  /** The Ray job that trains it, and what Ray notes beside it. */
  job: 'cluster.json',
  ray: 'ray',
  /** A trainer at work touches it every 30 seconds. */
  alive: 'alive',
  events: 'events.jsonl',
  /** The output of the trainer and its libraries; each launch is appended. */
  log: 'trainer.log',
  /** Its presence asks the trainer to stop. */
  stop: 'stop',
  /** Its presence asks the trainer to end the policy's training and write the model; removed when the run is done. */
  finish: 'finish',
  /** Written by whoever kills the trainer; it explains why the trainer is gone. */
  killed: 'killed.json',
  /** Records the ending of which a person was notified. */
  told: 'told.json',
  /** The name, the tags and the note that a person gave the run. */
  notes: 'notes.json',
  /** The place up to which `tandem track` has handed figures over to TensorBoard or trackio (track.py). */
  tracked: 'tracked.json',
  /** Evaluations of its model on held-out tasks (evaluation/loop/evaluationCache.ts). */
  evaluations: 'evaluations',
  checkpoints: 'checkpoints',
  /** The final checkpoint of a finished run, from which another can continue; absent when it would be too large. */
  kept: 'kept',
  /** The result: a Hugging Face model folder. */
  model: 'model',
  critic: 'critic',
} as const;

/** Returns the folder of the model that a run has made. */
export const modelOf = ({ folder }: { readonly folder: string }): string => join(folder, runFiles.model);

/** Maximum size of a finished run's checkpoints; same as `KEPT_BYTES` of the trainer (run/run.py). */
export const KEPT_GB = 2;

/** Suffix of the folder of a run that is still being prepared. */
export const BEING_PREPARED = '.unfinished';

export function runsFolderOf(dataFolder: string): string {
  return join(dataFolder, 'runs');
}

const SUFFIX_LENGTH = 4;

/** Returns an id that sorts by time (UTC) and differs between windows: `20261120-220501-k3f9`. */
export function newRunId(now = new Date()): string {
  const time = now.toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const suffix = randomInt(36 ** SUFFIX_LENGTH).toString(36);
  return `${time}-${suffix.padStart(SUFFIX_LENGTH, '0')}`;
}

/** Reads a small JSON file of a run; undefined when it is absent, incomplete or of another shape. */
export async function readWhole<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await ifThere(() => readFile(file, 'utf8'));
  if (text === undefined) return undefined;
  const value = jsonOrUndefined(text);
  return isTooDeep(value) ? undefined : schema.safeParse(value).data;
}

/** Prefix of the line that begins each launch in `trainer.log`. */
export const LAUNCH_LINE = '--- launched ';

const LAST_BYTES = 16 * 1024;
const LAST_LINES = 20;

/** Returns the end of the trainer's output since its last launch, which may explain why it died. */
export async function lastLines(folder: string): Promise<string[]> {
  const handle = await ifThere(() => open(join(folder, runFiles.log), 'r'));
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

/** Returns whether the disk is too full for a last message; undefined where the disk does not tell. */
export async function isFull(folder: string): Promise<boolean | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < FULL_BYTES;
  } catch {
    // The folder may be gone, or on a share that does not support this; neither may hide the run or others.
    return undefined;
  }
}
