import { functionNamed, functionsIn, type PythonFunction } from './functions';

/** Which lines of a file a piece of code takes the place of. Lines count from 0; `end` is the one after. */
export interface Placing {
  readonly start: number;
  readonly end: number;
  /** Whole lines, without a line break at the end. */
  readonly text: string;
}

/** Where an answer belongs in a file. */
export interface Place {
  readonly name: string;
  /** Where the function stood when the answer was asked for; tells functions of one name apart. */
  readonly near?: number;
}

/**
 * Puts an answer into the place of the function of that name: as far in as the function is, and under its decorators when
 * the answer has none. Undefined when the file has no such function.
 */
export function placed(source: string, code: string, { name, near = 0 }: Place): Placing | undefined {
  const there = functionNamed(source, name, near);
  if (there === undefined) return undefined;
  const start = hasDecorators(code, name) ? there.firstLine : there.defLine;
  return { start, end: there.endLine, text: indented(code, there) };
}

/** Puts an answer behind everything else. */
export function appended(source: string, code: string): Placing {
  const lines = source.split('\n');
  let end = lines.length;
  while (end > 0 && lines[end - 1]!.trim() === '') end -= 1;
  return { start: end, end: lines.length, text: `${end === 0 ? '' : '\n\n'}${code.trim()}\n` };
}

/** The file with the code in its place. */
export function withPlaced(source: string, { start, end, text }: Placing): string {
  const eol = source.includes('\r\n') ? '\r\n' : '\n';
  const lines = source.split(/\r?\n/);
  return [...lines.slice(0, start), ...text.split('\n'), ...lines.slice(end)].join(eol);
}

function hasDecorators(code: string, name: string): boolean {
  const own = functionsIn(code).find((each) => each.name === name);
  return own !== undefined && own.firstLine < own.defLine;
}

function indented(code: string, { indent }: PythonFunction): string {
  const lines = code.replaceAll('\r', '').trim().split('\n');
  return lines.map((line) => (line.trim() === '' ? '' : `${indent}${line}`)).join('\n');
}
