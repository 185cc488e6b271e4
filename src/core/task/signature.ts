import type { Task } from './task';

const DEFINITION = /^[ \t]*(?:async[ \t]+)?def[ \t]+([\p{L}_][\p{L}\p{N}_]*)[ \t]*\(/gmu;

/**
 * The name of the function that a task asks for: of the functions that the reference defines, the one that most tests
 * call. Undefined when the tests call none of them.
 */
export function functionName(task: Task): string | undefined {
  const names = new Set([...task.reference.matchAll(DEFINITION)].map((match) => match[1]!));
  let best: { name: string; calls: number } | undefined;
  for (const name of names) {
    const calls = task.testCases.filter(({ call }) => callsFunction(call, name)).length;
    if (calls > 0 && calls >= (best?.calls ?? 0)) best = { name, calls };
  }
  return best?.name;
}

/**
 * `def name(…) -> …:` as the description gives it, else as the reference does; undefined without a function name.
 */
export function functionSignature(task: Task): string | undefined {
  const name = functionName(task);
  if (name === undefined) return undefined;
  return signatureIn(task.description, name) ?? signatureIn(task.reference, name);
}

function callsFunction(call: string, name: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}_.])${name}\\s*\\(`, 'u').test(call);
}

/** The name of the function that a description asks for: the last whose signature stands in it. */
export function requestedName(description: string): string | undefined {
  return [...description.matchAll(/\bdef[ \t]+([\p{L}_][\p{L}\p{N}_]*)[ \t]*\(/gu)].at(-1)?.[1];
}

/** `def name(…) -> …:` as it stands in a text. */
export function signatureIn(text: string, name: string): string | undefined {
  const start = text.search(new RegExp(`\\bdef[ \\t]+${name}[ \\t]*\\(`, 'u'));
  if (start === -1) return undefined;
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]!;
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === ':' && depth === 0) return text.slice(start, at + 1);
  }
  return undefined;
}
