import { functionNamed, functionsIn, functionText, type PythonFunction } from './functions';
import {
  sourceLines,
  type SourceLine,
  commentsAbove,
  definedBy,
  statementsIn,
  type Statement,
} from './statements';

/** The lines of a file that a piece of code replaces. Lines count from 0; `end` is the one after the last. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  /** Whole lines, without a line break at the end. */
  readonly text: string;
}

interface AnswerPlace {
  readonly name?: string | undefined;
  /** Line of the function when the answer was asked for; it distinguishes functions of one name. */
  readonly near?: number | undefined;
}

/**
 * Returns the file with the answer in the place of the function of that name, indented like the function. Decorators
 * and docstring of the function stay when the answer has none of its own. A method's answer goes into the class alone:
 * what it needs stands above the class, because methods do not see the names of their class, and the class itself is not
 * repeated. Imports from `__future__` go to the head of the file, the only place where Python allows them. What the file
 * already has above the function, word for word, is left out. Without a name, or if the file has no such function, the
 * answer goes behind everything else.
 */
export function withAnswer(source: string, code: string, place: AnswerPlace): string {
  const site = siteOf(source, place);
  const { lines, statements, there, around } = site;
  const { code: bare, members } = bareOf(code, site);
  const whole =
    there === undefined ? bare : withDecorators(withDocstring(bare, source, there), source, there);
  const { future, above, own } = apart(whole, site);
  const line = around === undefined ? (there?.firstLine ?? 0) : lineAbove(lines, around);
  return withReplacements(source, [
    ...(future === '' ? [] : [atHead(lines, statements, future)]),
    ...(above === '' ? [] : [inserted(lines, line, { text: above, gap: 2 })]),
    ...(there === undefined
      ? appended(lines, own)
      : [{ start: there.firstLine, end: there.endLine, text: indented(joined([members, own]), there) }]),
  ]);
}

/**
 * The parts of an answer that go into the file, in their order there: without what is left out and what stays of the
 * function.
 */
export function brought(source: string, code: string, place: AnswerPlace): string {
  const site = siteOf(source, place);
  const { code: bare, members } = bareOf(code, site);
  const { future, above, own } = apart(bare, site);
  return joined([future, above, members, own]);
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n');

function bareOf(code: string, { lines, there, around }: Site): { code: string; members: string } {
  const bare = code.replaceAll('\r', '').trim();
  const unwrapped = there && around && fromRepeatedClass(bare, there, { lines, around });
  return unwrapped ?? { code: bare, members: '' };
}

interface Site {
  readonly lines: readonly SourceLine[];
  readonly statements: readonly Statement[];
  readonly there: PythonFunction | undefined;
  /** The statement of the top level that the function is, or is in. */
  readonly around: Statement | undefined;
  readonly known: ReadonlySet<string>;
}

function siteOf(source: string, { name, near = 0 }: AnswerPlace): Site {
  const there = name === undefined ? undefined : functionNamed(source, name, near);
  const lines = sourceLines(source);
  const statements = statementsIn(lines);
  const around = there && statements.findLast(({ firstLine }) => firstLine <= there.firstLine);
  const earlier = around === undefined ? statements : statements.slice(0, statements.indexOf(around));
  return { lines, statements, there, around, known: new Set(earlier.map(({ text }) => text)) };
}

interface Parts {
  readonly future: string;
  /** Code for the place above the class of a method, or above whatever else is around the function. */
  readonly above: string;
  readonly own: string;
}

const FUTURE = /^from[ \t]+__future__[ \t]/;

function apart(code: string, { there, known }: Site): Parts {
  const lines = sourceLines(code);
  const statements = statementsIn(lines);
  if (statements.length === 0) return { future: '', above: '', own: code };
  const versions = functionsIn(code).filter(({ name, indent }) => name === there?.name && indent === '');
  const versionLines = new Set(versions.map(({ firstLine }) => firstLine));
  const isNested = there !== undefined && there.indent !== '' && versions.length > 0;
  const lastLine = versions.at(-1)?.firstLine ?? 0;
  const partOf = (statement: Statement): keyof Parts | undefined => {
    const { firstLine, text } = statement;
    if (versionLines.has(firstLine)) return 'own';
    if (known.has(text)) return undefined;
    if (FUTURE.test(text)) return 'future';
    if (!isNested) return 'own';
    // An example or a test behind a method's answer could not call the method above its class.
    return firstLine < lastLine || onlyDefines(statement, there.name) ? 'above' : undefined;
  };
  const starts = statements.map((each, index) => (index === 0 ? 0 : gapAbove(lines, each)));
  const parts: Record<keyof Parts, string[]> = { future: [], above: [], own: [] };
  for (const [index, statement] of statements.entries()) {
    const part = partOf(statement);
    const section = lines.slice(starts[index], starts[index + 1]).map(({ text }) => text);
    if (part !== undefined) parts[part].push(section.join('\n'));
  }
  const whole = (part: readonly string[]): string => part.join('\n').trim();
  return { future: whole(parts.future), above: whole(parts.above), own: whole(parts.own) };
}

/** True if the statement defines or imports something, or assigns it without the function. */
function onlyDefines(statement: Statement, name: string): boolean {
  if (definedBy(statement).length === 0) return false;
  if (/^(?:@|(?:async|class|def|from|import)\b)/.test(statement.text)) return true;
  return !new Set(statement.text.match(/[\p{L}\p{N}_]+/gu)).has(name);
}

/** The line where the blank lines above a statement and its comments begin. */
function gapAbove(lines: readonly SourceLine[], statement: Statement): number {
  let line = commentsAbove(lines, statement);
  while (line > 0 && !lines[line - 1]!.isInString && lines[line - 1]!.text.trim() === '') line -= 1;
  return line;
}

/** The line above a statement and its comments, but below those that begin the file. */
function lineAbove(lines: readonly SourceLine[], statement: Statement): number {
  const line = commentsAbove(lines, statement);
  return line === 0 ? statement.firstLine : line;
}

/** Behind the imports from `__future__` that the file has, else behind its docstring or its first comments. */
function atHead(lines: readonly SourceLine[], statements: readonly Statement[], text: string): Replacement {
  const hasDocstring = /^[rRuU]?["']/.test(statements[0]?.text ?? '');
  const first = hasDocstring ? 1 : 0;
  let next = first;
  while (FUTURE.test(statements[next]?.text ?? '')) next += 1;
  if (next > 0) return inserted(lines, statements[next - 1]!.endLine, { text, gap: next > first ? 0 : 1 });
  const comments = lines.findIndex((line) => !line.text.startsWith('#'));
  return inserted(lines, comments === -1 ? lines.length : comments, { text, gap: 1 });
}

/** @param code the text, and the number of blank lines between it and other code */
function inserted(
  lines: readonly SourceLine[],
  at: number,
  { text, gap }: { readonly text: string; readonly gap: number },
): Replacement {
  const gapBeside = (line: SourceLine | undefined): string =>
    line === undefined || line.text.trim() === '' ? '' : '\n'.repeat(gap);
  return { start: at, end: at, text: `${gapBeside(lines[at - 1])}${text}${gapBeside(lines[at])}` };
}

function appended(lines: readonly SourceLine[], code: string): Replacement[] {
  if (code === '') return [];
  const end = lines.findLastIndex(({ text }) => text.trim() !== '') + 1;
  return [{ start: end, end: lines.length, text: `${end === 0 ? '' : '\n\n'}${code}\n` }];
}

function withReplacements(source: string, replacements: readonly Replacement[]): string {
  const eol = source.includes('\r\n') ? '\r\n' : '\n';
  const lines = source.split(/\r?\n/);
  const told = replacements.flatMap(({ start, text }, index) => [
    ...lines.slice(replacements[index - 1]?.end ?? 0, start),
    ...text.split('\n'),
  ]);
  return [...told, ...lines.slice(replacements.at(-1)?.end ?? 0)].join(eol);
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

/** At the indentation that the body of the answer's function has. */
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

function bodyIndent(body: string): string {
  const first = body.split('\n').find((line) => /^[ \t]+[^\s#]/.test(line));
  return first === undefined ? INDENT : /^[ \t]+/.exec(first)![0];
}

/** Lines that stand further out keep their place within the function. */
function moved(docstring: string, from: string, to: string, outer: string): string {
  const [first = '', ...others] = docstring.replaceAll('\r', '').split('\n');
  const lines = others.map((line) => {
    if (line.trim() === '') return '';
    if (line.startsWith(from)) return `${to}${line.slice(from.length)}`;
    return line.startsWith(outer) ? line.slice(outer.length) : line;
  });
  return [`${to}${first}`, ...lines].join('\n');
}

/** The lines of a string stay as they are, except for those of a function's docstring. */
function indented(code: string, { indent }: PythonFunction): string {
  const docstrings = functionsIn(code).flatMap(({ docstringAt }) => (docstringAt ? [docstringAt] : []));
  let next = 0;
  return sourceLines(code)
    .map(({ text, start, isInString }) => {
      while (next < docstrings.length && docstrings[next]![1] <= start) next += 1;
      const isInDocstring = next < docstrings.length && docstrings[next]![0] < start;
      if (isInString && !isInDocstring) return text;
      return text.trim() === '' ? '' : `${indent}${text}`;
    })
    .join('\n');
}

/** A class's method that an answer gives, as if it were a function of the top level. */
interface Unwrapped {
  readonly code: string;
  /** Members of the class that the file's has not; empty without any. */
  readonly members: string;
}

/**
 * Takes a method out of the class that an answer repeats around it. What the answer's class has besides, and the file's
 * has not, comes along; other members are left to the file's, since the answer was asked for the method alone.
 *
 * @param there the method in the file
 * @param around the statement of the file's top level that it is in
 * @returns undefined when the answer repeats no class around the method
 */
function fromRepeatedClass(
  code: string,
  there: PythonFunction,
  { lines, around }: { readonly lines: readonly SourceLine[]; readonly around: Statement },
): Unwrapped | undefined {
  const own = functionsIn(code).filter(({ name }) => name === there.name);
  const method = own.at(-1);
  if (method === undefined || own.some(({ indent }) => indent === '')) return undefined;
  const answer = sourceLines(code);
  const repeated = statementsIn(answer).find(
    ({ firstLine, endLine }) => firstLine <= method.firstLine && method.firstLine < endLine,
  )!;
  const name = classNamed(repeated);
  if (name === undefined || name !== classNamed(around)) return undefined;

  const known = new Set(membersOf(lines, around, there.indent).flatMap(({ names }) => names));
  const members = membersOf(answer, repeated, method.indent);
  const isMethod = ({ names }: Member): boolean => names.includes(there.name);
  const isNew = ({ names }: Member): boolean => names.length > 0 && !names.some((each) => known.has(each));
  const textOf = (some: readonly Member[]): string => some.map(({ text }) => text).join('\n\n');
  const kept = answer.map(({ text }) => text);
  kept.splice(repeated.firstLine, repeated.endLine - repeated.firstLine, textOf(members.filter(isMethod)));
  return { code: kept.join('\n').trim(), members: textOf(members.filter(isNew)) };
}

const CLASS = /^(?:@.*\n|[ \t].*\n|\).*\n)*class[ \t]+([\p{L}_][\p{L}\p{N}_]*)/u;

const classNamed = ({ text }: Statement): string | undefined => CLASS.exec(text)?.[1];

interface Member {
  /** It has the comments above the member, and not the indentation of the class's body. */
  readonly text: string;
  readonly names: readonly string[];
}

/** @param indent of the members' first lines */
function membersOf(
  lines: readonly SourceLine[],
  { firstLine, endLine }: Statement,
  indent: string,
): Member[] {
  const body = lines
    .slice(firstLine, endLine)
    .filter(({ text, isInString }) => isInString || text.trim() === '' || text.startsWith(indent))
    .map(({ text, isInString }) => (isInString ? text : text.slice(indent.length)));
  const inside = sourceLines(body.join('\n'));
  return statementsIn(inside).map((statement) => {
    const from = commentsAbove(inside, statement);
    const text = inside
      .slice(from, statement.endLine)
      .map((line) => line.text)
      .join('\n');
    return { text, names: definedBy(statement) };
  });
}
