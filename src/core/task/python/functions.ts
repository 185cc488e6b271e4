import { signatureIn } from '../signature';
import { sourceLines, type SourceLine } from './statements';

/** A function or method in a file. Lines count from 0. */
export interface PythonFunction {
  readonly name: string;
  /** Line of its first decorator, else that of its `def`. */
  readonly firstLine: number;
  readonly defLine: number;
  /** Line after its last one; blank lines and comments that follow it are not its own. */
  readonly endLine: number;
  /** White space before its `def`. */
  readonly indent: string;
  /** `def name(…) -> …:`, possibly in several lines. */
  readonly signature: string;
  /** Offset in the source of what follows the signature. */
  readonly bodyStart: number;
  /** Offset of the line after its last one. */
  readonly end: number;
  /** Without the indentation of its lines. */
  readonly docstring?: string;
  /** First offset, and the one after the last, quotes included. */
  readonly docstringAt?: readonly [number, number];
}

const DEFINITION = /^[ \t]*(?:async[ \t]+)?def[ \t]+([\p{L}_][\p{L}\p{N}_]*)[ \t]*\(/u;
const DOCSTRING = /^[ \t]*[rRuU]?("""|'''|"|')([\s\S]*?)(?<!\\)\1/;

/** Those inside others too, in the order in which they begin. */
export function functionsIn(source: string): PythonFunction[] {
  const lines = sourceLines(source);
  return lines.flatMap((line, index) => {
    const name = line.opens ? DEFINITION.exec(line.text)?.[1] : undefined;
    return name === undefined ? [] : (functionAt(source, lines, index, name) ?? []);
  });
}

/** A body that does nothing yet, without its docstring and comments on lines of their own. */
const STUB =
  /^(?:\.\.\.|pass|raise[ \t]+NotImplementedError(?:[ \t]*\((?:[^()]|\([^()]*\))*\))?)(?:[ \t]*#[^\n]*)?$/;

/** Functions whose body is only a docstring, `...`, `pass` or `raise NotImplementedError`. */
export function stubsIn(source: string): PythonFunction[] {
  const lines = source.split('\n');
  const classes = [...lines.entries()].filter(([, line]) => /^\s*class\b/.test(line));
  return functionsIn(source).filter((each) => {
    if (!isStub(source, each)) return false;
    const { firstLine, defLine, indent } = each;
    const around = classes.findLast(([at, line]) => at < firstLine && line.search(/\S/) < indent.length);
    return !isDeclaration(lines.slice(firstLine, defLine), around?.[1]);
  });
}

export function isStub(source: string, { bodyStart, docstringAt, end }: PythonFunction): boolean {
  const body = source.slice(docstringAt?.[1] ?? bodyStart, end);
  const statements = body.replaceAll(/^[ \t]*#.*$/gm, '').trim();
  return STUB.test(statements) || (statements === '' && docstringAt !== undefined);
}

/** An abstract method, an overload or a method of a protocol, which has no body on purpose. */
const isDeclaration = (decorators: readonly string[], classAround = ''): boolean =>
  decorators.some((line) => /^\s*@(?:\w+\.)?(?:abstract\w+|overload)\b/.test(line)) ||
  /\bProtocol\b/.test(classAround);

export function functionAround(source: string, line: number): PythonFunction | undefined {
  return functionsIn(source).findLast(({ firstLine, endLine }) => firstLine <= line && line < endLine);
}

/** Of several the one that begins nearest to a line. */
export function functionNamed(source: string, name: string, near = 0): PythonFunction | undefined {
  const all = functionsIn(source).filter((each) => each.name === name);
  const far = ({ defLine }: PythonFunction): number => Math.abs(defLine - near);
  return all.toSorted((one, other) => far(one) - far(other))[0];
}

/** Decorators included, without the indentation that it has as a whole. */
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
  const end = lines[endLine]?.start ?? source.length;
  const bodyStart = source.indexOf(signature, start) + signature.length;
  return {
    name,
    firstLine: firstDecorator(lines, defLine, indent),
    defLine,
    endLine,
    indent: /^[ \t]*/.exec(text)![0],
    signature: signature.replaceAll('\r', ''),
    ...{ bodyStart, end },
    ...docstringOf(source, bodyStart, end),
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
  bodyStart: number,
  bodyEnd: number,
): Pick<PythonFunction, 'docstring' | 'docstringAt'> {
  const body = source.slice(bodyStart, bodyEnd);
  const bare = body.replace(/^(?:[ \t]*(?:#[^\n]*)?\r?\n)*/, '');
  const [whole, , text] = DOCSTRING.exec(bare) ?? [];
  if (whole === undefined || text === undefined || text.trim() === '') return {};
  const before = bodyStart + body.length - bare.length;
  const start = before + whole.length - whole.trimStart().length;
  return { docstring: dedented(text), docstringAt: [start, before + whole.length] };
}

function dedented(text: string): string {
  const [first = '', ...others] = text.replaceAll('\r', '').split('\n');
  const widths = others.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)![0].length);
  const width = Math.min(...widths, Number.MAX_SAFE_INTEGER);
  return [first.trim(), ...others.map((line) => line.slice(width).trimEnd())].join('\n').trim();
}
