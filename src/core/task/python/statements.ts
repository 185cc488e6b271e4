import type { SourceLine } from './lines';

/** A statement of the top level with its decorators and clauses. Lines count from 0. */
export interface Statement {
  readonly firstLine: number;
  /** Line after its last one; blank lines and comments that follow it are not its own. */
  readonly endLine: number;
  /** Its lines, without carriage returns. */
  readonly text: string;
}

/** A line that continues the statement before it. */
const CLAUSE = /^(?:elif|else|except|finally)\b/;

/** Returns the statements of the top level, in order. */
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
