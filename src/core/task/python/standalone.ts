import { functionText, type PythonFunction } from './functions';
import { sourceLines } from './lines';

/** A statement of the top level with all its lines, and the names that it defines or imports. */
interface Chunk {
  readonly firstLine: number;
  readonly text: string;
  readonly names: readonly string[];
}

const NAME = /[\p{L}_][\p{L}\p{N}_]*/gu;

/**
 * A function of the top level with what it needs of its file, in the order of the file: imports, constants, helpers and
 * what these need in turn. Nothing else of the file.
 */
export function standalone(source: string, wanted: PythonFunction): string {
  const own = functionText(source, wanted);
  const others = chunksOf(source).filter(
    ({ firstLine }) => firstLine < wanted.firstLine || firstLine >= wanted.endLine,
  );
  const taken = new Set<Chunk>();
  let words = wordsOf(own);
  for (;;) {
    const needed = others.filter((chunk) => !taken.has(chunk) && chunk.names.some((name) => words.has(name)));
    if (needed.length === 0) break;
    for (const chunk of needed) taken.add(chunk);
    words = wordsOf([own, ...[...taken].map(({ text }) => text)].join('\n'));
  }
  const before = others.filter((chunk) => taken.has(chunk) && chunk.names.join() !== wanted.name);
  return `${[...before.map(({ text }) => text), own].join('\n\n')}\n`;
}

function wordsOf(code: string): ReadonlySet<string> {
  return new Set(code.match(NAME));
}

function chunksOf(source: string): Chunk[] {
  const lines = sourceLines(source);
  const starts = lines.flatMap(({ opens, indent, text }, index) => {
    const isDecorated =
      lines
        .slice(0, index)
        .findLast((line) => line.opens)
        ?.text.startsWith('@') === true;
    return opens && indent === 0 && !isDecorated && text !== '' ? [index] : [];
  });
  return starts.map((firstLine, at) => {
    const next = starts[at + 1] ?? lines.length;
    const text = lines
      .slice(firstLine, next)
      .map((line) => line.text)
      .join('\n')
      .replace(/(?:\n[ \t]*(?:#[^\n]*)?)+$/, '');
    return { firstLine, text, names: namesOf(text) };
  });
}

function namesOf(chunk: string): string[] {
  const definition = /^(?:@[\s\S]*?\n)?(?:(?:async[ \t]+)?def|class)[ \t]+([\p{L}_][\p{L}\p{N}_]*)/u.exec(
    chunk,
  );
  if (definition !== null) return [definition[1]!];
  const imported = /^(?:from[ \t]+\S+[ \t]+)?import[ \t]+([\s\S]+)$/.exec(chunk);
  if (imported !== null) return importedNames(imported[1]!);
  const assigned =
    /^([\p{L}_][\p{L}\p{N}_]*(?:[ \t]*,[ \t]*[\p{L}_][\p{L}\p{N}_]*)*)[ \t]*(?::[^=\n]*)?=(?!=)/u.exec(chunk);
  return assigned === null ? [] : assigned[1]!.split(/[ \t]*,[ \t]*/);
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
