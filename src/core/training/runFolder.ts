import { randomInt } from 'node:crypto';
import { open, readFile, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { z } from 'zod';
import { isTooDeep } from '../nesting';
import { ifThere } from '../trajectory/files';

/** Whether a text that others wrote can be the id of a run: the name of a folder, and of none above it. */
export const isRunId = (text: string): boolean =>
  text !== '' && text !== '.' && text !== '..' && text === basename(text);

/**
 * The files of a run, `<data folder>/runs/<id>/`. Tandem writes `run.json`, `data/`, `queued.json`, `launch.json`,
 * `trainer.log`, `stop`, `finish`, `killed.json` and `told.json`; the trainer everything else.
 */
export const runFiles = {
  configuration: 'run.json',
  /** What it began with, and the commit of a base on the hub. */
  begun: 'configuration.json',
  /** The rows that were taken from the log, and how they were chosen. */
  trajectories: join('data', 'trajectories.jsonl'),
  selection: join('data', 'selection.json'),
  /** It waits for its turn. */
  queued: 'queued.json',
  launch: 'launch.json',
  process: 'process.json',
  /** Touched by a trainer that is at work. */
  alive: 'alive',
  events: 'events.jsonl',
  /** What the trainer and its libraries say to a person, one launch below the other. */
  log: 'trainer.log',
  /** Its presence asks the trainer to stop. */
  stop: 'stop',
  /** Its presence asks the trainer to end the policy where it is and to go on to the model; gone when the run is done. */
  finish: 'finish',
  /** Somebody has killed its trainer, and knows why it is gone. */
  killed: 'killed.json',
  /** Of which of its endings a person was told. */
  told: 'told.json',
  checkpoints: 'checkpoints',
  /** Where a run that is done stood, from which another can go on; not there when it would be large. */
  kept: 'kept',
  /** The result: a Hugging Face model folder. */
  model: 'model',
  critic: 'critic',
} as const;

/** A run that is done keeps its checkpoints up to this size: `KEPT_BYTES` of the trainer (running/run.py). */
export const KEPT_GB = 2;

/** Ends the names of folders whose run is still being prepared. */
export const BEING_PREPARED = '.unfinished';

export function runsFolderOf(dataFolder: string): string {
  return join(dataFolder, 'runs');
}

const SUFFIX_LENGTH = 4;

/** A name that sorts by time (UTC) and that two windows do not give at once: `20261120-220501-k3f9`. */
export function newRunId(now = new Date()): string {
  const time = now.toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const suffix = randomInt(36 ** SUFFIX_LENGTH).toString(36);
  return `${time}-${suffix.padStart(SUFFIX_LENGTH, '0')}`;
}

/** A small JSON file of a run; undefined when it is not there or is not whole. */
export async function readWhole<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await ifThere(() => readFile(file, 'utf8'));
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? undefined : schema.safeParse(value).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Begins each launch in `trainer.log`. */
export const LAUNCH_LINE = '--- launched ';

const LAST_BYTES = 16 * 1024;
const LAST_LINES = 20;

/** What the trainer said last since it was launched: the lines that explain a death, if it had time for any. */
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
      .map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1).trimEnd()) // progress bars
      .filter((line) => line !== '')
      .slice(-LAST_LINES);
  } finally {
    await handle.close();
  }
}

/** Less than the trainer keeps for its last words. */
const FULL_BYTES = 64 * 1024;

/** Whether its disk has no room now that anything could be said in; undefined where the disk does not tell. */
export async function isFull(folder: string): Promise<boolean | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < FULL_BYTES;
  } catch {
    // It may be gone meanwhile, or on a share that answers no such question: that must not hide the run, nor others.
    return undefined;
  }
}
