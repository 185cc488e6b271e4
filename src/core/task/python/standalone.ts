import { functionText, type PythonFunction } from './functions';
import { sourceLines } from './lines';
import { definedBy, statementsIn, type Statement } from './statements';

/** A statement of the top level, and the names that it defines or imports. */
interface Chunk extends Statement {
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
  return statementsIn(sourceLines(source)).map((statement) => ({
    ...statement,
    names: definedBy(statement),
  }));
}
