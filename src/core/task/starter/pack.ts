import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { taskToRow } from '../row';
import { starterTasks, type Difficulty, type Split } from './world';

export interface StarterPack {
  readonly tasks: number;
  readonly split: Split;
  readonly seed: number;
  readonly difficulty: Difficulty;
}

/**
 * Writes the first tasks of a split as a pack, in place of a file of that name. The file appears when it is complete.
 * @throws the system's error when it cannot be written
 * @throws the signal's reason when it is aborted
 */
export async function writeStarterPack(file: string, pack: StarterPack, signal?: AbortSignal): Promise<void> {
  const unfinished = `${file}.${process.pid}.part`;
  await mkdir(dirname(file), { recursive: true });
  try {
    await pipeline(Readable.from(rows(pack)), createWriteStream(unfinished), { signal });
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}

function* rows({ tasks, ...world }: StarterPack): Generator<string> {
  const drawn = starterTasks(world);
  for (let i = 0; i < tasks; i++) yield `${JSON.stringify(taskToRow(drawn.next().value.task))}\n`;
}
