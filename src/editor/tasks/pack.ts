import path from 'node:path';
import { Fault, messageOf } from '../../core/fault';
import type { BadLine } from '../../core/task/pack';
import type { Task } from '../../core/task/task';
import { numbered, taskTitle } from '../../core/task/title';

/** A task as the tree shows it; the whole task is read from its pack when it is opened. */
export interface PackTask {
  /** Absolute path of the pack. */
  readonly pack: string;
  readonly id: string;
  readonly title: string;
  /** Of a very long one the beginning. */
  readonly description: string;
  readonly tests: number;
}

export interface Pack {
  /** Absolute path. */
  readonly file: string;
  /** File name without its ending. */
  readonly name: string;
  readonly tasks: readonly PackTask[];
  readonly bad: readonly BadLine[];
}

/** So many lines of a file may be no JSON before it is taken for something else than a pack. */
const LINES_LOOKED_AT = 20;
const DESCRIPTION_LENGTH = 2000;

/** What the tree shows of a pack; undefined when the file holds something else. */
export async function readPack(file: string): Promise<Pack | undefined> {
  if (!(await isPack(file))) return undefined;
  const { readTasks } = await import('../../core/task/pack');
  const tasks: PackTask[] = [];
  const bad: BadLine[] = [];
  const titles = new Map<string, number>();
  for await (const read of readTasks(file)) {
    if ('bad' in read) bad.push(read.bad);
    else tasks.push(shown(file, read.task, numbered(taskTitle(read.task), titles)));
  }
  return { file, name: nameOf(file), tasks, bad };
}

/** A pack that cannot be read is listed with the reason. */
export function unreadablePack(file: string, error: unknown): Pack {
  return { file, name: nameOf(file), tasks: [], bad: [{ file, line: 1, reason: messageOf(error) }] };
}

/** A file is a pack when its first line that is JSON is a task. */
async function isPack(file: string): Promise<boolean> {
  const { readJsonLines } = await import('../../core/task/jsonl');
  const { parseTask } = await import('../../core/task/row');
  for await (const read of readJsonLines(file)) {
    if ('reason' in read) {
      if (read.line >= LINES_LOOKED_AT) return false;
      continue;
    }
    try {
      parseTask(read.value);
      return true;
    } catch (error) {
      if (error instanceof Fault) return false;
      throw error;
    }
  }
  return false;
}

function shown(pack: string, task: Task, title: string): PackTask {
  const { id, description, testCases } = task;
  const cut =
    description.length > DESCRIPTION_LENGTH ? `${description.slice(0, DESCRIPTION_LENGTH)}…` : description;
  return { pack, id, title, description: cut, tests: testCases.length };
}

const nameOf = (file: string): string => path.basename(file, path.extname(file));
