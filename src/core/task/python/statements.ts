export interface SourceLine {
  readonly text: string;
  /** Offset of its first character in the source. */
  readonly start: number;
  /** True where a statement begins: not blank, no comment, not inside a string, brackets or a continued line. */
  readonly opens: boolean;
  /** True where the line begins inside a string, so that its white space is a part of the string. */
  readonly isInString: boolean;
  /** Columns of white space before its first character, a tab to the next multiple of eight, as Python counts. */
  readonly indent: number;
}

interface State {
  quote: string | undefined;
  depth: number;
  continued: boolean;
}

/** With or without carriage returns. Takes linear time. */
export function sourceLines(source: string): SourceLine[] {
  const state: State = { quote: undefined, depth: 0, continued: false };
  let start = 0;
  return source.split('\n').map((whole) => {
    const text = whole.replace(/\r$/, '');
    const isInString = state.quote !== undefined;
    const inside = isInString || state.depth > 0 || state.continued;
    const opens = !inside && /^\s*[^\s#]/.test(text);
    const line = { text, start, opens, isInString, indent: indentOf(text) };
    read(text, state);
    start += whole.length + 1;
    return line;
  });
}

function indentOf(text: string): number {
  let column = 0;
  for (const character of text) {
    if (character === ' ') column += 1;
    else if (character === '\t') column += 8 - (column % 8);
    else break;
  }
  return column;
}

/** A string in simple quotes ends with its line, unless a backslash continues it. */
function read(text: string, state: State): void {
  let at = 0;
  state.continued = false;
  while (at < text.length) {
    const { quote } = state;
    const character = text[at]!;
    if (quote !== undefined) {
      if (character === '\\') at += 2;
      else if (text.startsWith(quote, at)) {
        state.quote = undefined;
        at += quote.length;
      } else at += 1;
    } else if (character === '#') return;
    else if (character === '"' || character === "'") {
      const three = character.repeat(3);
      state.quote = text.startsWith(three, at) ? three : character;
      at += state.quote.length;
    } else {
      if ('([{'.includes(character)) state.depth += 1;
      else if (')]}'.includes(character)) state.depth = Math.max(0, state.depth - 1);
      else if (character === '\\' && at === text.length - 1) state.continued = true;
      at += 1;
    }
  }
  if (state.quote?.length === 1 && !text.endsWith('\\')) state.quote = undefined;
}

/** A statement of the top level with its decorators and clauses. Lines count from 0. */
export interface Statement {
  readonly firstLine: number;
  /** Line after its last one; blank lines and comments that follow it are not its own. */
  readonly endLine: number;
  readonly text: string;
}

/** A line that continues the statement before it. */
const CLAUSE = /^(?:elif|else|except|finally)\b/;

export function statementsIn(lines: readonly SourceLine[]): Statement[] {
  const starts: number[] = [];
  let isDecorated = false;
  for (const [index, { opens, indent, text }] of lines.entries()) {
    if (!opens) continue;
    if (indent === 0 && !isDecorated && !CLAUSE.test(text)) starts.push(index);
    isDecorated = text.startsWith('@');
  }
  return starts.map((firstLine, at) => {
    let endLine = starts[at + 1] ?? lines.length;
    while (endLine > firstLine + 1 && /^[ \t]*(?:#|$)/.test(lines[endLine - 1]!.text)) endLine -= 1;
    const own = lines.slice(firstLine, endLine).map(({ text }) => text);
    return { firstLine, endLine, text: own.join('\n') };
  });
}

/** The line of the first comment right above a statement; its own line when there is none. */
export function commentsAbove(lines: readonly SourceLine[], { firstLine }: Statement): number {
  let line = firstLine;
  while (line > 0 && !lines[line - 1]!.isInString && lines[line - 1]!.text.startsWith('#')) line -= 1;
  return line;
}

export function definedBy({ text }: Statement): string[] {
  const definition = /^(?:@[\s\S]*?\n)?(?:(?:async[ \t]+)?def|class)[ \t]+([\p{L}_][\p{L}\p{N}_]*)/u.exec(
    text,
  );
  if (definition !== null) return [definition[1]!];
  const imported = /^(?:from[ \t]+\S+[ \t]+)?import[ \t]/.exec(text);
  if (imported !== null) return importedNames(text.slice(imported[0].length));
  const assigned =
    /^([\p{L}_][\p{L}\p{N}_]*(?:[ \t]*,[ \t]*[\p{L}_][\p{L}\p{N}_]*)*)[ \t]*(?::[^=\n]*)?=(?!=)/u.exec(text);
  return assigned === null ? [] : assigned[1]!.split(',').map((name) => name.trim());
}

/** `import a.b` gives `a`, `import a as b` gives `b`. */
function importedNames(list: string): string[] {
  return list
    .replace(/#[^\n]*/g, '')
    .replace(/[()\\\n]/g, ' ')
    .split(',')
    .flatMap((item) => {
      const [, name, alias] = /^\s*([\p{L}\p{N}_.]+)(?:\s+as\s+([\p{L}\p{N}_]+))?\s*$/u.exec(item) ?? [];
      return alias ?? name?.split('.')[0] ?? [];
    });
}
