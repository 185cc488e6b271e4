import type { ProgramTask } from './task';
import { PythonStrings } from './python/strings';

const DEFINITION = /^[ \t]*(?:async[ \t]+)?def[ \t]+([\p{L}_][\p{L}\p{N}_]*)[ \t]*\(/gmu;

const CALLED = /(?<![\p{L}\p{N}_.])([\p{L}_][\p{L}\p{N}_]*)\s*\(/gu;

/** Of the functions that the reference defines, the one that most tests call. Undefined when the tests call none. */
export function functionName(task: ProgramTask): string | undefined {
  const names = new Set([...task.reference.matchAll(DEFINITION)].map((match) => match[1]!));
  let best: { name: string; calls: number } | undefined;
  const counts = callsByName(task);
  for (const name of names) {
    const calls = counts.get(name) ?? 0;
    if (calls > 0 && calls >= (best?.calls ?? 0)) best = { name, calls };
  }
  return best?.name;
}

function callsByName({ testCases }: ProgramTask): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { call } of testCases)
    for (const name of new Set([...call.matchAll(CALLED)].map((match) => match[1]!)))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The last function with its signature in the description. */
export function requestedName(description: string): string | undefined {
  return [...description.matchAll(/\bdef[ \t]+([\p{L}_][\p{L}\p{N}_]*)[ \t]*\(/gu)].at(-1)?.[1];
}

/** Where a signature seems longer, a bracket is open. */
const MAX_SIGNATURE_CHARS = 4_000;

export function signatureIn(text: string, name: string): string | undefined {
  const start = text.search(new RegExp(`\\bdef[ \\t]+${name}[ \\t]*\\(`, 'u'));
  if (start === -1) return undefined;
  const strings = new PythonStrings(text);
  let depth = 0;
  const end = Math.min(text.length, start + MAX_SIGNATURE_CHARS);
  for (let at = start; at < end; at = strings.at(at)?.end ?? at + 1) {
    const character = text[at]!;
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === ':' && depth === 0) return text.slice(start, at + 1);
  }
  return undefined;
}
