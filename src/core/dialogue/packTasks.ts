import path from 'node:path';
import { readTasks, type ReadOptions } from '../task/pack';
import type { PackTask } from './collect';

interface PackTaskOptions extends ReadOptions {
  readonly limit?: number;
  /** Receives a sentence for each bad line, and for each task with the id of one in an earlier pack. */
  readonly onLeftOut: (sentence: string) => void;
}

/**
 * Reads the first tasks of some packs, each id once.
 * @throws {Fault} as `readTasks`, when a file cannot be read
 */
export async function packTasks(files: readonly string[], options: PackTaskOptions): Promise<PackTask[]> {
  const { limit = Infinity, onLeftOut, signal } = options;
  const tasks = new Map<string, PackTask>();
  for (const file of files) {
    for await (const read of readTasks(file, { signal })) {
      if (tasks.size >= limit) return [...tasks.values()];
      if ('bad' in read) {
        onLeftOut(`${file}:${read.bad.line}: left out: ${read.bad.reason}`);
      } else if (tasks.has(read.task.id)) {
        onLeftOut(`${file}: left out: the task ${read.task.id} is in an earlier pack too.`);
      } else {
        tasks.set(read.task.id, { task: read.task, pack: path.basename(file) });
      }
    }
  }
  return [...tasks.values()];
}
