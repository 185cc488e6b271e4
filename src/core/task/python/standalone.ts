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
 * Returns a function of the top level with what it needs of its file, in the order of the file: imports, constants,
 * helpers and what these need in turn. Nothing else of the file is included.
 */
export function standalone(source: string, wanted: PythonFunction): string {
  const own = functionText(source, wanted);
  const others = chunksOf(source).filter(
    ({ firstLine }) => firstLine < wanted.firstLine || firstLine >= wanted.endLine,
  );
  const definitions = others.flatMap((chunk) => chunk.names.map((name) => ({ name, chunk })));
  const definers = Map.groupBy(definitions, ({ name }) => name);
  const taken = new Set<Chunk>();
  // Each piece of code is read once: what it needs is taken, and read in turn.
  const unread = [own];
  for (let code = unread.pop(); code !== undefined; code = unread.pop()) {
    for (const { chunk } of [...wordsOf(code)].flatMap((word) => definers.get(word) ?? [])) {
      if (!taken.has(chunk)) unread.push(chunk.text);
      taken.add(chunk);
    }
    for (const word of wordsOf(code)) definers.delete(word);
  }
  const before = others.filter((chunk) => taken.has(chunk) && chunk.names.join() !== wanted.name);
  return `${[...before.map(({ text }) => text), own].join('\n\n')}\n`;
}

function wordsOf(code: string): ReadonlySet<string> {
  return new Set(code.match(NAME));
}

function chunksOf(source: string): Chunk[] {
  const lines = sourceLines(source);
  const starts: number[] = [];
  let isDecorated = false;
  for (const [index, { opens, indent, text }] of lines.entries()) {
    if (!opens) continue;
    if (indent === 0 && !isDecorated && text !== '') starts.push(index);
    isDecorated = text.startsWith('@');
  }
  return starts.map((firstLine, at) => {
    let end = starts[at + 1] ?? lines.length;
    while (end > firstLine + 1 && /^[ \t]*(?:#|$)/.test(lines[end - 1]!.text)) end -= 1;
    const own = lines.slice(firstLine, end).map((line) => line.text);
    const text = own.join('\n');
    return { firstLine, text, names: namesOf(text) };
  });
}

function namesOf(chunk: string): string[] {
  const definition = /^(?:@[\s\S]*?\n)?(?:(?:async[ \t]+)?def|class)[ \t]+([\p{L}_][\p{L}\p{N}_]*)/u.exec(
    chunk,
  );
  if (definition !== null) return [definition[1]!];
  const imported = /^(?:from[ \t]+\S+[ \t]+)?import[ \t]/.exec(chunk);
  if (imported !== null) return importedNames(chunk.slice(imported[0].length));
  const assigned =
    /^([\p{L}_][\p{L}\p{N}_]*(?:[ \t]*,[ \t]*[\p{L}_][\p{L}\p{N}_]*)*)[ \t]*(?::[^=\n]*)?=(?!=)/u.exec(chunk);
  return assigned === null ? [] : assigned[1]!.split(',').map((name) => name.trim());
}

/** Returns the names that an import defines: `import a.b` gives `a`, `import a as b` gives `b`. */
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
