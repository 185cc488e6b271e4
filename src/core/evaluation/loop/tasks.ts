import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { packTasks, type PackTask } from '../../dialogue/collect';
import { deriveSeed } from '../../seed';
import { Fault } from '../../fault';
import { MB, readInParts, readText } from '../../regularFile';
import { readTasks } from '../../task/pack';
import { isProgram, requestOf, type Task } from '../../task/task';
import { taskToRow } from '../../task/row';
import type { Split } from '../../task/starter/world';
import type { World } from '../../task/starter/splits';
import { worldTasks } from '../../task/starter/worlds';
import { ifThere, writeAtomically } from '../../trajectory/files';
import { digestOf } from './record';
import type { LoopSettings } from './settings';

export const taskFiles = {
  train: join('tasks', 'train.jsonl'),
  heldOut: join('tasks', 'held-out.jsonl'),
} as const;

export const tasksResult = z.object({
  train: z.number(),
  heldOut: z.number(),
  badLines: z.number(),
  content: z.object({ train: z.string(), heldOut: z.string() }),
});
export type TasksResult = z.infer<typeof tasksResult>;

interface Drawn {
  readonly train: readonly Task[];
  readonly heldOut: readonly Task[];
  readonly badLines: number;
}

/**
 * Writes the tasks to learn from and those to measure on into one pack each.
 * @param packs given files; the world when there are none
 * @throws {Fault} `loop/too-few-tasks`
 */
export async function drawTasks(
  folder: string,
  packs: readonly string[],
  {
    world,
    settings,
    seed,
    signal,
  }: { world: World; settings: LoopSettings; seed: number; signal?: AbortSignal },
): Promise<TasksResult> {
  const drawn =
    packs.length === 0
      ? fromWorld(world, settings, seed)
      : await fromPacks(packs, world, settings, seed, signal);
  return {
    train: drawn.train.length,
    heldOut: drawn.heldOut.length,
    badLines: drawn.badLines,
    content: {
      train: await writePack(join(folder, taskFiles.train), drawn.train),
      heldOut: await writePack(join(folder, taskFiles.heldOut), drawn.heldOut),
    },
  };
}

/** A digest of each pack, so that a changed one is noticed. */
export async function contentOf(packs: readonly string[], signal?: AbortSignal): Promise<readonly string[]> {
  const digests: string[] = [];
  for (const file of packs) {
    const hash = createHash('sha256');
    for await (const part of readInParts(file, signal)) hash.update(part);
    digests.push(hash.digest('hex'));
  }
  return digests;
}

/** Of the packs that a loop draws. */
const MAX_PACK_BYTES = 512 * MB;

export async function hasPacks(folder: string, { content }: TasksResult): Promise<boolean> {
  const asWritten = async (file: string, digest: string): Promise<boolean> => {
    const text = await ifThere(() => readText(join(folder, file), MAX_PACK_BYTES));
    return text !== undefined && digestOf(text) === digest;
  };
  return (
    (await asWritten(taskFiles.train, content.train)) && (await asWritten(taskFiles.heldOut, content.heldOut))
  );
}

/** Of a pack that a loop has written. */
export const loadPack = (file: string): Promise<PackTask[]> =>
  packTasks([file], { onLeftOut: () => undefined });

/**
 * The tasks of the two splits share no structure. The test split stays out: it is the scoreboard's, which uses it once
 * per table, while a loop runs after every change.
 */
function fromWorld(
  world: World,
  { difficulty, trainTasks, heldOutTasks }: LoopSettings,
  seed: number,
): Drawn {
  const draw = (split: Split, count: number): Task[] => {
    const drawn = worldTasks({ world, split, seed, difficulty });
    return Array.from({ length: count }, () => drawn.next().value);
  };
  return { train: draw('train', trainTasks), heldOut: draw('development', heldOutTasks), badLines: 0 };
}

/** A loop measures success, which a page without checks has not. */
const isOfWorld = (task: Task, world: World): boolean =>
  isProgram(task) ? world !== 'pages' : world === 'pages' && task.checks !== undefined;

const HELD_OUT = 0.2;

/**
 * A task's place depends on the seed and on its request alone: packs in another order give the same split, and one
 * request under two ids is either learned from or measured on.
 */
async function fromPacks(
  packs: readonly string[],
  world: World,
  { trainTasks, heldOutTasks }: LoopSettings,
  seed: number,
  signal?: AbortSignal,
): Promise<Drawn> {
  const tasks = new Map<string, Task>();
  let badLines = 0;
  for (const file of packs) {
    for await (const read of readTasks(file, { signal })) {
      if ('bad' in read || !isOfWorld(read.task, world)) badLines += 1;
      else if (!tasks.has(read.task.id)) tasks.set(read.task.id, read.task);
    }
  }
  const places = [...tasks.values()].map((task) => ({
    task,
    place: deriveSeed('loop', seed, requestOf(task)),
  }));
  const drawn = places
    .sort((a, b) => a.place - b.place || (a.task.id < b.task.id ? -1 : 1))
    .map(({ task }) => task);
  const heldOut = drawn.slice(0, Math.min(heldOutTasks, Math.round(drawn.length * HELD_OUT)));
  const known = new Set(heldOut.map(requestOf));
  const train = drawn.filter((task) => !known.has(requestOf(task))).slice(0, trainTasks);
  if (heldOut.length === 0 || train.length === 0) {
    throw new Fault(
      'loop/too-few-tasks',
      `There are ${drawn.length} tasks in ${packs.join(', ')}: too few different ones to learn from some and measure on others. Give more, or none to play the starter world.`,
    );
  }
  return { heldOut, train, badLines };
}

async function writePack(file: string, tasks: readonly Task[]): Promise<string> {
  const text = tasks.map((task) => `${JSON.stringify(taskToRow(task))}\n`).join('');
  await writeAtomically(file, text);
  return digestOf(text);
}
