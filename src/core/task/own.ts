import { createHash } from 'node:crypto';
import { ended } from '../text';
import { type PythonFunction, functionText } from './python/functions';
import { isProgram, type ProgramTask, type Task, type Fact } from './task';
import { parseProgram, taskToRow, factSchema } from './row';
import { sourceLines, definedBy, statementsIn, type Statement } from './python/statements';
import * as z from 'zod';
import { lazily } from '../lazily';
import { isTooDeep } from '../json';
import { equalityIn, partsIn } from './python/asserts';

/**
 * A task without tests or reference: the hidden information is in the developer's head, so only the person who accepts
 * or rejects the answer says how good it is.
 */
export function ownTask(request: string, signature: string): ProgramTask {
  return ownTaskOf(`${request.trim()}\n\nThe signature is:\n\n${signature}`);
}

export function ownTaskOf(description: string): ProgramTask {
  const id = createHash('sha256').update(description).digest('hex').slice(0, 16);
  return { id, description, reference: '', testCases: [], hiddenInformation: '' };
}

export function isOwnFunction(task: Task): boolean {
  return isProgram(task) && task.testCases.length === 0;
}

/** Matches the line behind a docstring's description in words: a blank line, an example, a list of its parameters. */
const PART = /^\s*(?:$|>>>|(?:Args|Arguments|Parameters|Returns|Raises|Examples?)\s*(?::\s*)?$|:param)/;

/** In one line, from the function's docstring; the developer edits it. */
export function draftedRequest({ name, docstring }: PythonFunction): string {
  const [first = '', ...others] = (docstring ?? '').split('\n');
  const end = others.findIndex((line) => PART.test(line));
  const told = [first, ...others.slice(0, end === -1 ? undefined : end)].join(' ');
  const words = told.replace(/\s+/g, ' ').trim();
  if (words !== '') return `I need a Python function: ${ended(words)}`;
  return `I need a Python function that does this: ${name.replaceAll('_', ' ').trim()}.`;
}

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
): ProgramTask {
  return parseProgram({
    problem_description: `${request.trim()}\n\nThe signature is:\n\n${wanted.signature}`,
    ground_truth: standalone(source, wanted),
    test_cases: Object.fromEntries(tests.map((test, index) => [`test${index + 1}`, test])),
    source: 'private',
    ...(facts.length > 0 && { facts }),
  });
}

/** At semicolons that are not inside strings. */
export const typedCalls = (text: string): string[] => partsIn(text, ';').filter((part) => part !== '');

export function packLine(task: ProgramTask): string {
  return `${JSON.stringify(taskToRow(task))}\n`;
}

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

const factsSchema = lazily(() => z.array(factSchema));

/** Asks a model to draft facts. */
interface FactsRequest {
  readonly reference: string;
  /** The request that everyone sees, so that no fact repeats it. */
  readonly request: string;
}

export function factsQuestion({ reference, request }: FactsRequest): readonly FactsMessage[] {
  return [
    {
      role: 'system',
      content:
        'You write down the decisions that are hidden in a Python function, so that somebody who has not read it can be told them one by one. ' +
        'Reply with a JSON array and nothing else. Each element is one decision, an object with three fields: ' +
        '"topic", what it is about in two to four words; "keywords", a list of words and short phrases that a question about it would contain; ' +
        '"answers", a list with one or two sentences in everyday words that tell the decision, with its numbers and without any code. ' +
        'Leave out what the request says already.',
    },
    { role: 'user', content: `The request:\n${request}\n\nThe function:\n${reference}` },
  ];
}

interface FactsMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

/** The array of JSON in a model's text, whatever surrounds it; undefined without one. */
export function factsIn(text: string): Fact[] | undefined {
  const [start, end] = [text.indexOf('['), text.lastIndexOf(']')];
  if (start === -1 || end < start) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text.slice(start, end + 1));
  } catch {
    return undefined;
  }
  if (isTooDeep(value)) return undefined;
  const facts = factsSchema().safeParse(value).data;
  return facts === undefined || facts.length === 0 ? undefined : facts;
}

/** Without a model: each test that expects a value is an example that may be told. */
export function factsOfTests(tests: readonly string[], name: string): Fact[] {
  return tests.flatMap((test) => {
    const equality = equalityIn(test, name);
    if (equality === undefined) return [];
    const { call, wanted } = equality;
    const literals = call.match(/"[^"\n]*"|'[^'\n]*'|\d+(?:\.\d+)?/g) ?? [];
    const words = literals
      .map((literal) => literal.replaceAll(/["']/g, ''))
      .filter((word) => word.trim() !== '');
    return {
      topic: call,
      keywords: ['example', 'examples', ...new Set(words)],
      answers: [`For example, ${call} gives ${wanted}.`],
    };
  });
}
