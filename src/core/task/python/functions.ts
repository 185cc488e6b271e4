import { signatureIn } from '../signature';
import { sourceLines, type SourceLine } from './lines';

/** A function or method as it stands in a file. Lines count from 0. */
export interface PythonFunction {
  readonly name: string;
  /** The line of its first decorator, else that of its `def`. */
  readonly firstLine: number;
  readonly defLine: number;
  /** The line after its last one; blank lines and comments that follow it are not its own. */
  readonly endLine: number;
  /** The white space before its `def`. */
  readonly indent: string;
  /** `def name(…) -> …:`, in as many lines as it has. */
  readonly signature: string;
  /** What its docstring says, without the indentation of its lines; absent without one. */
  readonly docstring?: string;
}

const DEFINITION = /^[ \t]*(?:async[ \t]+)?def[ \t]+([\p{L}_][\p{L}\p{N}_]*)[ \t]*\(/u;
const DOCSTRING = /^\s*[rRuU]?("""|'''|"|')([\s\S]*?)(?<!\\)\1/;

/** All functions of a source, those inside others too, in the order in which they begin. */
export function functionsIn(source: string): PythonFunction[] {
  const lines = sourceLines(source);
  return lines.flatMap((line, index) => {
    const name = line.opens ? DEFINITION.exec(line.text)?.[1] : undefined;
    return name === undefined ? [] : (functionAt(source, lines, index, name) ?? []);
  });
}

/** The innermost function that a line belongs to, its decorators included. */
export function functionAround(source: string, line: number): PythonFunction | undefined {
  return functionsIn(source).findLast(({ firstLine, endLine }) => firstLine <= line && line < endLine);
}

/** The function of a name; of several the one that begins nearest to a line. */
export function functionNamed(source: string, name: string, near = 0): PythonFunction | undefined {
  const all = functionsIn(source).filter((each) => each.name === name);
  const far = ({ defLine }: PythonFunction): number => Math.abs(defLine - near);
  return all.toSorted((one, other) => far(one) - far(other))[0];
}

/** The function's own text, decorators included, without the indentation that it has as a whole. */
export function functionText(source: string, { firstLine, endLine, indent }: PythonFunction): string {
  return source
    .split('\n')
    .slice(firstLine, endLine)
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line).replace(/\r$/, ''))
    .join('\n');
}

function functionAt(
  source: string,
  lines: readonly SourceLine[],
  defLine: number,
  name: string,
): PythonFunction | undefined {
  const { text, start, indent } = lines[defLine]!;
  const signature = signatureIn(source.slice(start), name);
  if (signature === undefined) return undefined;
  const endLine = endOf(lines, defLine, indent);
  const docstring = docstringOf(source, lines, start, signature, endLine);
  return {
    name,
    firstLine: firstDecorator(lines, defLine, indent),
    defLine,
    endLine,
    indent: /^[ \t]*/.exec(text)![0],
    signature: signature.replaceAll('\r', ''),
    ...(docstring !== undefined && { docstring }),
  };
}

function firstDecorator(lines: readonly SourceLine[], defLine: number, indent: number): number {
  let first = defLine;
  for (let line = defLine - 1; line >= 0; line -= 1) {
    if (!lines[line]!.opens) continue;
    if (lines[line]!.indent !== indent || !lines[line]!.text.trimStart().startsWith('@')) break;
    first = line;
  }
  return first;
}

/** The next statement that is indented no further ends it. */
function endOf(lines: readonly SourceLine[], defLine: number, indent: number): number {
  let end = defLine + 1;
  while (end < lines.length && !(lines[end]!.opens && lines[end]!.indent <= indent)) end += 1;
  const isOwn = ({ text, indent: own }: SourceLine): boolean =>
    text.trim() !== '' && (own > indent || !text.trimStart().startsWith('#'));
  while (end > defLine + 1 && !isOwn(lines[end - 1]!)) end -= 1;
  return end;
}

function docstringOf(
  source: string,
  lines: readonly SourceLine[],
  start: number,
  signature: string,
  endLine: number,
): string | undefined {
  const bodyStart = source.indexOf(signature, start) + signature.length;
  const bodyEnd = lines[endLine]?.start ?? source.length;
  const body = source.slice(bodyStart, bodyEnd).replace(/^(?:[ \t]*(?:#[^\n]*)?\r?\n)*/, '');
  const text = DOCSTRING.exec(body)?.[2];
  if (text === undefined || text.trim() === '') return undefined;
  return dedented(text);
}

function dedented(text: string): string {
  const [first = '', ...others] = text.replaceAll('\r', '').split('\n');
  const widths = others.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)![0].length);
  const width = Math.min(...widths, Number.MAX_SAFE_INTEGER);
  return [first.trim(), ...others.map((line) => line.slice(width).trimEnd())].join('\n').trim();
}
