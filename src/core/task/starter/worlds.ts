import type { Task } from '../task';
import { pageTasks } from './pages/world';
import { questionTasks } from './questions/world';
import type { World } from './splits';
import { starterTasks, type TaskDraw } from './world';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { taskToRow } from '../row';

export interface WorldOptions extends TaskDraw {
  readonly world: World;
}

const GENERATORS = {
  functions: starterTasks,
  pages: pageTasks,
  'twenty-questions': questionTasks,
} as const satisfies Readonly<Record<World, unknown>>;

/** Yields tasks without end, no two the same, and the same ones for the same seed. */
export function* worldTasks({ world, ...options }: WorldOptions): Generator<Task, never> {
  const drawn = GENERATORS[world](options);
  for (;;) yield drawn.next().value.task;
}

export interface StarterPack extends WorldOptions {
  readonly tasks: number;
}

/**
 * Writes the first tasks of a split, in place of a file of that name, which appears when it is complete.
 * @param onProgress called now and then with the number of tasks drawn so far
 * @throws the system's error when it cannot be written
 */
export async function writeStarterPack(
  file: string,
  pack: StarterPack,
  signal?: AbortSignal,
  onProgress?: (drawn: number) => void,
): Promise<void> {
  const unfinished = `${file}.${process.pid}.part`;
  await mkdir(dirname(file), { recursive: true });
  try {
    await pipeline(Readable.from(rows(pack, onProgress)), createWriteStream(unfinished), { signal });
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Number of tasks after which other work in this process gets a turn, such as cancelling this one. */
const AT_ONCE = 50;

async function* rows(
  { tasks, ...world }: StarterPack,
  onProgress?: (drawn: number) => void,
): AsyncGenerator<string> {
  const drawn = worldTasks(world);
  for (let i = 0; i < tasks; i++) {
    yield `${JSON.stringify(taskToRow(drawn.next().value))}\n`;
    if ((i + 1) % AT_ONCE !== 0) continue;
    onProgress?.(i + 1);
    await setImmediate();
  }
}
