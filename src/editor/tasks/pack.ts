import path from 'node:path';
import { messageOf } from '../../core/fault';
import type { BadLine } from '../../core/task/pack';
import type { Task } from '../../core/task/task';
import { numbered, taskTitle } from '../../core/task/title';

/** A task as the tree shows it; the whole task is read from its pack when it is opened. */
export interface ListedTask {
  /** Absolute path of the pack. */
  readonly pack: string;
  readonly id: string;
  readonly title: string;
  /** The description, or the beginning of a very long one. */
  readonly description: string;
  readonly tests: number;
}

export interface Pack {
  /** Absolute path of the pack. */
  readonly file: string;
  /** File name without its ending. */
  readonly name: string;
  readonly tasks: readonly ListedTask[];
  readonly bad: readonly BadLine[];
}

const DESCRIPTION_LENGTH = 2000;

/** Returns what the tree shows of a pack; undefined when the file holds something else. */
export async function readPack(file: string): Promise<Pack | undefined> {
  const { isPack, readTasks } = await import('../../core/task/pack');
  if (!(await isPack(file))) return undefined;
  const tasks: ListedTask[] = [];
  const bad: BadLine[] = [];
  const titles = new Map<string, number>();
  for await (const read of readTasks(file)) {
    if ('bad' in read) bad.push(read.bad);
    else tasks.push(shown(file, read.task, numbered(taskTitle(read.task), titles)));
  }
  return { file, name: nameOf(file), tasks, bad };
}

export function unreadablePack(file: string, error: unknown): Pack {
  return { file, name: nameOf(file), tasks: [], bad: [{ file, line: 1, reason: messageOf(error) }] };
}

function shown(pack: string, task: Task, title: string): ListedTask {
  const { id, description, testCases } = task;
  const cut =
    description.length > DESCRIPTION_LENGTH ? `${description.slice(0, DESCRIPTION_LENGTH)}…` : description;
  return { pack, id, title, description: cut, tests: testCases.length };
}

const nameOf = (file: string): string => path.basename(file, path.extname(file));
