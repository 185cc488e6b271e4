import { functionNamed, functionsIn, functionText, type PythonFunction } from './functions';

/** The lines of a file that a piece of code replaces. Lines count from 0; `end` is the one after the last. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  /** Whole lines, without a line break at the end. */
  readonly text: string;
}

/** The place in a file where an answer belongs. */
interface AnswerPlace {
  readonly name: string;
  /** Line of the function when the answer was asked for; it tells functions of one name apart. */
  readonly near?: number;
}

/**
 * Puts an answer into the place of the function of that name, indented like the function. Decorators and docstring of
 * the function stay when the answer has none of its own. Returns undefined when the file has no such function.
 */
export function placed(
  source: string,
  code: string,
  { name, near = 0 }: AnswerPlace,
): Replacement | undefined {
  const there = functionNamed(source, name, near);
  if (there === undefined) return undefined;
  const bare = code.replaceAll('\r', '').trim();
  const kept = withDecorators(withDocstring(bare, source, there), source, there);
  return { start: there.firstLine, end: there.endLine, text: indented(kept, there) };
}

/** Puts an answer behind everything else. */
export function appended(source: string, code: string): Replacement {
  const lines = source.split('\n');
  let end = lines.length;
  while (end > 0 && lines[end - 1]!.trim() === '') end -= 1;
  return { start: end, end: lines.length, text: `${end === 0 ? '' : '\n\n'}${code.trim()}\n` };
}

/** Returns the file with the code in its place. */
export function withPlaced(source: string, { start, end, text }: Replacement): string {
  const eol = source.includes('\r\n') ? '\r\n' : '\n';
  const lines = source.split(/\r?\n/);
  return [...lines.slice(0, start), ...text.split('\n'), ...lines.slice(end)].join(eol);
}

/** Returns the answer's function that replaces the file's: the last one of that name wins, as when Python runs it. */
const answering = (code: string, name: string): PythonFunction | undefined =>
  functionsIn(code).findLast((each) => each.name === name && each.indent === '');

/** Puts the answer's function under the decorators of the file's, with the comments between them. */
function withDecorators(code: string, source: string, there: PythonFunction): string {
  const own = answering(code, there.name);
  if (own === undefined || own.firstLine < own.defLine) return code;
  const lines = code.split('\n');
  const decorators = functionText(source, there)
    .split('\n')
    .slice(0, there.defLine - there.firstLine);
  return [...lines.slice(0, own.defLine), ...decorators, ...lines.slice(own.defLine)].join('\n');
}

/** Gives the answer's function the docstring of the file's, at the indentation that its body has. */
function withDocstring(code: string, source: string, there: PythonFunction): string {
  const own = answering(code, there.name);
  if (own === undefined || own.docstringAt !== undefined || there.docstringAt === undefined) return code;
  const [start, end] = there.docstringAt;
  const before = source.slice(source.lastIndexOf('\n', start - 1) + 1, start);
  const from = before.trim() === '' ? before : there.indent;
  const [head, body] = [code.slice(0, own.bodyStart), code.slice(own.bodyStart)];
  const lineEnd = body.indexOf('\n');
  const rest = lineEnd === -1 ? body : body.slice(0, lineEnd);
  const isOneLine = /^[ \t]*[^\s#]/.test(rest);
  const indent = isOneLine ? INDENT : bodyIndent(body.slice(rest.length + 1));
  const docstring = moved(source.slice(start, end), from, indent, there.indent);
  if (isOneLine) return `${head}\n${docstring}\n${indent}${body.trimStart()}`;
  return `${head}${rest}\n${docstring}${body.slice(rest.length)}`;
}

const INDENT = '    ';

/** Returns the indentation of the first statement of a body. */
function bodyIndent(body: string): string {
  const first = body.split('\n').find((line) => /^[ \t]+[^\s#]/.test(line));
  return first === undefined ? INDENT : /^[ \t]+/.exec(first)![0];
}

/** Gives a docstring another indentation; lines that stand further out keep theirs within the function's. */
function moved(docstring: string, from: string, to: string, outer: string): string {
  const [first = '', ...others] = docstring.replaceAll('\r', '').split('\n');
  const lines = others.map((line) => {
    if (line.trim() === '') return '';
    if (line.startsWith(from)) return `${to}${line.slice(from.length)}`;
    return line.startsWith(outer) ? line.slice(outer.length) : line;
  });
  return [`${to}${first}`, ...lines].join('\n');
}

function indented(code: string, { indent }: PythonFunction): string {
  return code
    .split('\n')
    .map((line) => (line.trim() === '' ? '' : `${indent}${line}`))
    .join('\n');
}
