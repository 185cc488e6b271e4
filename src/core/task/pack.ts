import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../fault';
import { readJsonLines } from './jsonl';
import { parseTask } from './row';
import { factsOf, isProgram, type Task, testsOf } from './task';

/** A line of a pack that holds no task. `reason` is one sentence. */
export interface BadLine {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

export interface ReadOptions {
  readonly signal?: AbortSignal;
}

/**
 * Streams a pack: each line is a task or the reason why it is none. Memory holds one line at a time, and the ids seen.
 *
 * @throws {Fault} when the file cannot be read at all (as `readJsonLines`)
 */
export async function* readTasks(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<{ readonly task: Task } | { readonly bad: BadLine }> {
  const lineOfId = new Map<string, number>();
  for await (const read of readJsonLines(file, options)) {
    const { line } = read;
    const parsed = 'reason' in read ? read.reason : taskOrReason(read.value);
    if (typeof parsed === 'string') {
      yield { bad: { file, line, reason: parsed } };
      continue;
    }
    const before = lineOfId.get(parsed.id);
    if (before === undefined) {
      lineOfId.set(parsed.id, line);
      yield { task: parsed };
    } else {
      const reason = `The task has the id ${parsed.id} of the task in line ${before}; ids must differ within a pack.`;
      yield { bad: { file, line, reason } };
    }
  }
}

function taskOrReason(value: unknown): Task | string {
  try {
    return parseTask(value);
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** Number of leading lines that may be no JSON before a file is taken for something else than a pack. */
const MAX_LEADING_LINES = 20;

/** True if the first line that is JSON is a task. */
export async function isPack(file: string): Promise<boolean> {
  for await (const read of readJsonLines(file)) {
    if ('value' in read) return typeof taskOrReason(read.value) !== 'string';
    if (read.line >= MAX_LEADING_LINES) return false;
  }
  return false;
}

/** For packs that are shown or played whole; `readTasks` reads those of any size. */
export async function loadTasks(
  file: string,
  options: ReadOptions = {},
): Promise<{ readonly tasks: Task[]; readonly bad: BadLine[] }> {
  const tasks: Task[] = [];
  const bad: BadLine[] = [];
  for await (const read of readTasks(file, options)) {
    if ('task' in read) tasks.push(read.task);
    else bad.push(read.bad);
  }
  return { tasks, bad };
}

export async function packsBeside(
  file: string,
  names: readonly string[],
  options: ReadOptions = {},
): Promise<{ readonly file: string; readonly tasks: Task[] }[]> {
  const folder = path.dirname(file);
  const others = (await readdir(folder)).filter(
    (name) => name !== path.basename(file) && name.endsWith('.jsonl') && names.includes(name),
  );
  const files = others.map((name) => path.join(folder, name));
  return Promise.all(files.map(async (one) => ({ file: one, tasks: (await loadTasks(one, options)).tasks })));
}

export interface PackCheck {
  readonly file: string;
  readonly tasks: number;
  readonly tests: number;
  /** Tasks that are web pages. */
  readonly pages: number;
  /** Functions that the rule-based simulator can play; it plays every web page. */
  readonly withFacts: number;
  readonly bad: readonly BadLine[];
}

export async function checkPack(file: string, options: ReadOptions = {}): Promise<PackCheck> {
  let tasks = 0;
  let tests = 0;
  let withFacts = 0;
  let pages = 0;
  const bad: BadLine[] = [];
  for await (const read of readTasks(file, options)) {
    if ('bad' in read) {
      bad.push(read.bad);
      continue;
    }
    tasks += 1;
    tests += testsOf(read.task).length;
    if (!isProgram(read.task)) pages += 1;
    if (factsOf(read.task).length > 0) withFacts += 1;
  }
  return { file, tasks, tests, pages, withFacts, bad };
}
