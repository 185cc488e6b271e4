// Reads Python source without running it: open strings, indentation, prompts, names. Tells it from the prose around it,
// line by line and without parsing either. Takes linear time.

export type Quote = "'''" | '"""' | null;

interface LineEnd {
  readonly quote: Quote;
  readonly comment: boolean;
  /** The line without comment and without the content of strings. */
  readonly bare: string;
}

/** Takes linear time. */
export function endOfLine(line: string, before: Quote): LineEnd {
  let quote = before;
  let bare = '';
  // Quotes without an end in the line are apostrophes, and so is every later one of the kind.
  const apostrophes = new Set<string>();
  for (let at = 0; at < line.length; at++) {
    const three = line.slice(at, at + 3);
    const one = line[at]!;
    if (quote !== null) {
      if (one === '\\') at++;
      else if (three === quote) {
        quote = null;
        at += 2;
      }
    } else if (one === '#') return { quote, comment: true, bare };
    else if (three === "'''" || three === '"""') {
      quote = three;
      at += 2;
      bare += '"';
    } else {
      bare += one;
      if ((one !== "'" && one !== '"') || apostrophes.has(one)) continue;
      const end = stringEnd(line, at);
      if (end === undefined) apostrophes.add(one);
      else at = end;
    }
  }
  return { quote, comment: false, bare };
}

function stringEnd(line: string, start: number): number | undefined {
  for (let at = start + 1; at < line.length; at++) {
    if (line[at] === '\\') at++;
    else if (line[at] === line[start]) return at;
  }
  return undefined;
}

/** Brackets that a bare line opens, less those that it closes. */
function nesting(bare: string): number {
  let depth = 0;
  for (const sign of bare) {
    if ('([{'.includes(sign)) depth++;
    else if (')]}'.includes(sign)) depth--;
  }
  return depth;
}

/** Lines that are Python of their own: not blank, not a comment, not within a triple-quoted string. */
function* codeLines(lines: readonly string[]): Generator<{ readonly line: string; readonly index: number }> {
  let quote: Quote = null;
  for (const [index, line] of lines.entries()) {
    if (quote === null && /^\s*[^\s#]/.test(line)) yield { line, index };
    quote = endOfLine(line, quote).quote;
  }
}

/**
 * Returns code as a file would hold it: without byte order mark, prompts of an interactive session, and the indentation
 * that it has as a whole. When only its first line is indented, that indentation goes.
 */
export function tidy(code: string): string {
  const visible = code.replace(/^[\s\u200b\u2060]+/, (start) => start.replace(/[\ufeff\u200b\u2060]/g, ''));
  const lines = withoutPrompts(visible.split('\n'));
  const starts = [...codeLines(lines)];
  const first = starts[0];
  const indent = first === undefined ? '' : /^[ \t\u00a0]*/.exec(first.line)![0];
  if (first === undefined || indent === '') return lines.join('\n');
  const whole = starts.every(({ line }) => line.startsWith(indent));
  return lines
    .map((line, index) =>
      (whole || index === first.index) && line.startsWith(indent) ? line.slice(indent.length) : line,
    )
    .join('\n');
}

/** Lines without a prompt are output, and are dropped. */
function withoutPrompts(lines: readonly string[]): readonly string[] {
  const start = lines.find((line) => line.trim() !== '');
  if (start === undefined || !/^\s*>>>(?: |$)/.test(start)) return lines;
  const typed = lines.map((line) => /^\s*(?:>>>|\.\.\.)(?: |$)(.*)$/.exec(line)?.[1]);
  return typed.filter((line) => line !== undefined);
}

const word = '[\\p{L}_][\\p{L}\\p{N}_]*';
const words = new RegExp(word, 'gu');
const called = new RegExp(`(?<![\\p{L}\\p{N}_.])(${word})\\(`, 'gu');
const definition = new RegExp(`^(?:(?:async[ \\t]+)?def|class)[ \\t]+(${word})`, 'u');
const assignment = new RegExp(`^(${word}(?:[ \\t]*,[ \\t]*${word})*)[ \\t]*(?::[^=]*)?=(?!=)`, 'u');
const longestImport = 50;
const importLine = /^(?:import|from)[ \t]/;

/** Names that most of the expressions call come first. */
export function calledNames(calls: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const call of calls) {
    for (const name of new Set([...call.matchAll(called)].map(([, found]) => found!))) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts].sort(([, one], [, other]) => other - one).map(([name]) => name);
}

export function wordsOf(code: string): ReadonlySet<string> {
  return new Set(code.match(words));
}

export interface TopLevel {
  /** Names from def, class or an assignment. */
  readonly defined: ReadonlySet<string>;
  /** Names from an import, including those of modules. */
  readonly imported: ReadonlySet<string>;
}

export function topLevelOf(code: string): TopLevel {
  const names = { defined: new Set<string>(), imported: new Set<string>() };
  const lines = code.split('\n');
  for (const { line, index } of codeLines(lines)) {
    const name = definition.exec(line)?.[1];
    if (name !== undefined) names.defined.add(name);
    const targets = assignment.exec(line)?.[1];
    for (const target of targets === undefined ? [] : wordsOf(targets)) names.defined.add(target);
    if (!importLine.test(line)) continue;
    const statement = line.includes('(') ? lines.slice(index, index + longestImport).join(' ') : line;
    for (const part of wordsOf(statement.split(')', 1)[0]!)) names.imported.add(part);
  }
  for (const keyword of ['import', 'from', 'as']) names.imported.delete(keyword);
  return names;
}

/** True if the top level only imports, defines and assigns, and calls nothing of this name to assign it. */
export function onlyDefines(code: string, name: string): boolean {
  for (const { line } of codeLines(code.split('\n'))) {
    const assigns = assignment.test(line);
    if (assigns && wordsOf(line).has(name)) return false;
    if (!assigns && !definition.test(line) && !importLine.test(line) && !/^[ \t@)\]}'"]/.test(line))
      return false;
  }
  return true;
}

/**
 * The functions and classes of the top level but those of this name, with the imports and constants before them;
 * undefined if there are none. What stands behind them is their example.
 */
export function definitionsIn(code: string, name: string): string | undefined {
  const lines = code.split('\n');
  const kept: { isDefinition: boolean; lines: string[] }[] = [];
  const hasName = (line: string): boolean =>
    wordsOf(definition.exec(line)?.[1] ?? assignment.exec(line)?.[1] ?? '').has(name);
  let isKept = true;
  let isDecorated = false;
  let depth = 0;
  let quote: Quote = null;
  for (const line of lines) {
    if (quote === null && depth === 0 && /^[^\s#)\]}'"]/.test(line)) {
      const isDefinition = definition.test(line) || line.startsWith('@');
      isKept = isDefinition || assignment.test(line) || importLine.test(line);
      if (isKept && !isDecorated) kept.push({ isDefinition, lines: [] });
      isDecorated = line.startsWith('@');
      if (isKept && hasName(line)) {
        kept.pop();
        isKept = false;
      }
    }
    if (isKept) kept.at(-1)?.lines.push(line);
    const end = endOfLine(line, quote);
    quote = end.quote;
    depth = Math.max(0, depth + nesting(end.bare));
  }
  const last = kept.findLastIndex(({ isDefinition }) => isDefinition);
  if (last < 0) return undefined;
  return kept
    .slice(0, last + 1)
    .flatMap((part) => part.lines)
    .join('\n');
}

/** True if the body is empty, "...", "pass" or a docstring. */
export function isSignature(code: string, name: string): boolean {
  const bare = code
    .replace(/"""[^]*?"""|'''[^]*?'''/g, '')
    .replace(/#.*/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const parameters = '\\([^()]*(?:\\([^()]*\\)[^()]*)*\\)';
  const body = '\\.\\.\\.|pass|raise NotImplementedError(?:\\(\\))?';
  const signature = new RegExp(
    `^(?:async )?def ${name} ?${parameters}(?: ?->[^:>]*)?(?: ?: ?(?:${body})?)?$`,
    'u',
  );
  return signature.test(bare);
}

/** Top-level names of modules imported by a statement, `__import__` or `import_module`. */
export function importedModules(source: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of source.split(/[\n;:]/)) {
    const [opening, keyword] = /^\s*(import|from)\s/.exec(statement) ?? [];
    if (opening === undefined) continue;
    const rest = statement.slice(opening.length);
    for (const item of keyword === 'import' ? rest.split(',') : [rest]) {
      const name = /^\s*(\w+)/.exec(item)?.[1];
      if (name !== undefined) names.add(name);
    }
  }
  for (const [, name] of source.matchAll(/\b(?:__import__|import_module)\(\s*['"](\w+)/g)) names.add(name!);
  return names;
}

/**
 * Returns the code in a text that has no fences: all of it when no line is surely prose, else the parts that begin like
 * a statement and last until the next line that is surely prose. Undefined when no part is code.
 */
export function codeAmongProse(lines: readonly string[]): string | undefined {
  const parts: string[][] = [[]];
  let isCode = true;
  let indent = 0;
  let quote: Quote = null;
  let depth = 0;
  let continued = false;
  for (const line of lines) {
    const { bare, quote: after } = endOfLine(line, quote);
    if (quote === null && depth === 0 && !continued && line.trim() !== '') {
      const column = line.search(/\S/);
      if (isCode && (column < indent || (column === 0 && isProse(line, bare)))) isCode = false;
      if (!isCode) {
        if (!beginning.test(line) || isProse(line, bare)) continue;
        isCode = true;
        indent = column;
        parts.push([]);
      }
    } else if (!isCode) continue;
    parts.at(-1)!.push(line);
    depth = Math.max(0, depth + nesting(bare));
    continued = after === null && bare.endsWith('\\');
    quote = after;
  }
  const found = parts.map((part) => part.join('\n')).filter((part) => part.trim() !== '');
  if (found.length === 0) return undefined;
  return found.length === 1 ? found[0] : found.map(tidy).join('\n');
}

/** A call alone begins nothing: behind prose it is an example. */
const beginning = new RegExp(
  '^[ \\t]*(?:' +
    [
      '(?:async[ \\t]+)?def[ \\t]+[\\p{L}\\p{N}_]+[ \\t]*[([]',
      'class[ \\t]+[\\p{L}\\p{N}_]+[ \\t]*[(:[]',
      'import[ \\t]',
      'from[ \\t]+[\\p{L}\\p{N}_.]+[ \\t]+import[ \\t(]',
      '@[\\p{L}_]',
      '[rRuU]?(?:"""|\'\'\')',
      '[\\p{L}_][\\p{L}\\p{N}_.]*\\.[\\p{L}\\p{N}_]+\\(',
      '[\\p{L}_][\\p{L}\\p{N}_., \\t]*(?:\\[[^\\]]*\\][ \\t]*)?(?::[^=]*)?[-+*/%&|^]?=(?!=)',
      '(?:if|for|while|with|try)\\b[^:]*:',
    ].join('|') +
    ')',
  'u',
);

const keywords = new Set(
  (
    'and as assert async await break case class continue def del elif else except finally for from global if import ' +
    'in is lambda match nonlocal not or pass raise return try type while with yield False None True'
  ).split(' '),
);

/** Signs that Python has nowhere outside of strings and comments, and beginnings that no statement has. */
const foreignSigns = /[`$?]|!(?!=)|[^ \t\f\p{L}\p{N}\p{M}_\u200b\u2060\ufeff\x21-\x7e]/u;
const foreignBeginning = /^(?:[-+*<>=|&%/,;:]|\d+[.)]\s)/;
/** Also where it could be Python (`That is all`, `Time: O(1)`, `-1`): it would do nothing there but raise. */
const title = /^[\p{L}_][\p{L}\p{N}_' ,]*[.:]?$|^[\p{L}_][\p{L}\p{N}_]*:[^=]*$/u;
const foreignAssignment = /^\w+\([^()]*\) ?=(?!=)/;

/** @param bare the line without its strings and comment */
function isProse(line: string, bare: string): boolean {
  const text = bare.trim();
  if (text === '' || line.trim().startsWith('#')) return false;
  if (foreignSigns.test(text) || foreignBeginning.test(text) || foreignAssignment.test(text)) return true;
  if (title.test(text) && !keywords.has(/^[\p{L}\p{N}_]*/u.exec(text)![0])) return true;
  // In Python, no two names stand side by side. A quote in an f-string may have ended the string too early here.
  return !/[fF][rR]?["']/.test(line) && namesSideBySide(text);
}

function namesSideBySide(text: string): boolean {
  let name = '';
  let end = 0;
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const isName = !keywords.has(word);
    if (isName && name !== '' && text.slice(end, index).trim() === '') return true;
    name = isName ? word : '';
    end = index + word.length;
  }
  return false;
}
