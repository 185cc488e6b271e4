import { calledIn } from './python/asserts';
import type { PythonFunction } from './python/functions';
import { standalone } from './python/standalone';
import { parseTask, taskToRow } from './row';
import type { Task } from './task';
import { PythonStrings } from './python/strings';

/** What a person says of a task that is made from a function. */
export interface DraftedTask {
  /** The vague request; the signature is added. */
  readonly request: string;
  /** Calls of the function, Python expressions. */
  readonly calls: readonly string[];
}

/**
 * A task from a function of the top level: what it needs of its file becomes the reference, the calls the hidden tests.
 * @throws {Fault} `task/bad-row` when there is no call
 */
export function taskFromFunction(
  source: string,
  wanted: PythonFunction,
  { request, calls }: DraftedTask,
): Task {
  const tests = calls.map((call, index) => [`test${index + 1}`, call]);
  return parseTask({
    problem_description: `${request.trim()}\n\nThe signature is:\n\n${wanted.signature}`,
    ground_truth: standalone(source, wanted),
    test_cases: Object.fromEntries(tests) as unknown,
    source: 'private',
  });
}

/** The hidden tests that claims of a test file make, each once. */
export function draftedCalls(claims: readonly string[], name: string): string[] {
  return [...new Set(claims.map((claim) => calledIn(claim, name)))];
}

/** Calls as a person types them, separated by semicolons that are not inside strings. */
export function typedCalls(text: string): string[] {
  const strings = new PythonStrings(text);
  const parts: string[] = [];
  let begin = 0;
  for (let at = 0; at <= text.length; at = strings.at(at)?.end ?? at + 1) {
    if (at < text.length && text[at] !== ';') continue;
    parts.push(text.slice(begin, at));
    begin = at + 1;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** A line of a pack. */
export function packLine(task: Task): string {
  return `${JSON.stringify(taskToRow(task))}\n`;
}
