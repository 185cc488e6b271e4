import { createHash } from 'node:crypto';
import { ended } from '../text';
import type { PythonFunction } from './python/functions';
import { isProgram, type ProgramTask, type Task } from './task';

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
