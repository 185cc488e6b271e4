import { type PythonFunction, functionText } from './python/functions';
import { parseTask, taskToRow } from './row';
import type { Fact, Task } from './task';
import { PythonStrings } from './python/strings';
import { sourceLines } from './python/lines';
import { definedBy, statementsIn, type Statement } from './python/statements';

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
 * The reference holds the function and what it needs of its file.
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

/** At semicolons that are not inside strings. */
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

export function packLine(task: Task): string {
  return `${JSON.stringify(taskToRow(task))}\n`;
}

/** With the names that it defines or imports. */
interface Chunk extends Statement {
  readonly names: readonly string[];
}

const NAME = /[\p{L}_][\p{L}\p{N}_]*/gu;

/** A function of the top level with the imports, constants and helpers that it needs, in the order of the file. */
export function standalone(source: string, wanted: PythonFunction): string {
  const own = functionText(source, wanted);
  const others = chunksOf(source).filter(
    ({ firstLine }) => firstLine < wanted.firstLine || firstLine >= wanted.endLine,
  );
  const definitions = others.flatMap((chunk) => chunk.names.map((name) => ({ name, chunk })));
  const definers = Map.groupBy(definitions, ({ name }) => name);
  const taken = new Set<Chunk>();
  // Each piece of code is read once: what it needs is taken, and read in turn.
  const unread = [own];
  for (let code = unread.pop(); code !== undefined; code = unread.pop()) {
    for (const { chunk } of [...wordsOf(code)].flatMap((word) => definers.get(word) ?? [])) {
      if (!taken.has(chunk)) unread.push(chunk.text);
      taken.add(chunk);
    }
    for (const word of wordsOf(code)) definers.delete(word);
  }
  const before = others.filter((chunk) => taken.has(chunk) && chunk.names.join() !== wanted.name);
  return `${[...before.map(({ text }) => text), own].join('\n\n')}\n`;
}

function wordsOf(code: string): ReadonlySet<string> {
  return new Set(code.match(NAME));
}

function chunksOf(source: string): Chunk[] {
  return statementsIn(sourceLines(source)).map((statement) => ({
    ...statement,
    names: definedBy(statement),
  }));
}
