import type { PythonFunction } from './python/functions';
import { standalone } from './python/standalone';
import { parseTask, taskToRow } from './row';
import type { Fact, Task } from './task';
import { PythonStrings } from './python/strings';

/** A person's input for a task that is made from a function. */
interface DraftedTask {
  /** The vague request; the signature is added. */
  readonly request: string;
  /**
   * Python expressions. A claim, such as `f(1) == 2`, keeps the value that is wanted; for a call alone, the present
   * value of the function becomes the wanted one.
   */
  readonly tests: readonly string[];
  /** Facts that the rules may tell; without any they cannot play the task. */
  readonly facts?: readonly Fact[];
}

/**
 * Makes a task from a function of the top level; the reference holds the function and what it needs of its file.
 * @throws {Fault} `task/bad-row` when there is no test
 */
export function taskFromFunction(
  source: string,
  wanted: PythonFunction,
  { request, tests, facts = [] }: DraftedTask,
): Task {
  return parseTask({
    problem_description: `${request.trim()}\n\nThe signature is:\n\n${wanted.signature}`,
    ground_truth: standalone(source, wanted),
    test_cases: Object.fromEntries(tests.map((test, index) => [`test${index + 1}`, test])),
    source: 'private',
    ...(facts.length > 0 && { facts }),
  });
}

/** Splits calls as a person types them, at semicolons that are not inside strings. */
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

/** Returns the task as a line of a pack. */
export function packLine(task: Task): string {
  return `${JSON.stringify(taskToRow(task))}\n`;
}
