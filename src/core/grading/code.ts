import { fencedBlocks, isPython, isUntagged, type Block } from './fences';
import type { GradingMode } from './grade';
import { calledNames, isSignature, onlyDefines, tidy, topLevelOf, wordsOf, type TopLevel } from './source';

/**
 * Returns the Python code in an agent's answer; the whole text when it has no fence. Line 1 of an error is the first
 * line of the returned code.
 *
 * `fixed`: the last block that defines the function that the calls name, behind the earlier blocks that it needs.
 * `paper`: the code that the published grader takes. Both: docs/grading.md, "Which code is graded".
 * @param calls the calls of the task's tests
 */
export function extractCode(text: string, mode: GradingMode, calls: readonly string[]): string {
  return mode === 'paper' ? paperCode(text) : fixedCode(text, calls);
}

function fixedCode(text: string, calls: readonly string[]): string {
  const normal = text.replace(/\r\n?/g, '\n');
  const pieces = fencedBlocks(normal).map(pieceOf);
  if (pieces.length === 0) return tidy(normal);
  const python = pieces.filter(isPython);
  const untagged = pieces.filter(isUntagged);
  const choices = [python, untagged].map((candidates) => ({ candidates, definers: definersOf(candidates) }));
  for (const name of calledNames(calls)) {
    for (const { candidates, definers } of choices) {
      const index = lastThatDefines(name, candidates, definers);
      if (index !== undefined) return withWhatItNeeds(candidates, index, name);
    }
  }
  const possible = pieces.filter((piece) => isPython(piece) || isUntagged(piece));
  const suitable = possible.length > 0 ? possible : pieces;
  return (suitable.findLast(({ code }) => definition.test(code)) ?? suitable.at(-1)!).code;
}

const definition = /^[ \t]*(?:async[ \t]+def|def|class)[ \t]/m;

type Piece = Block & TopLevel;

function pieceOf({ tag, code }: Block): Piece {
  const tidied = tidy(code);
  return { tag, code: tidied, ...topLevelOf(tidied) };
}

/** Indices of the pieces that define a name, by name. */
type Definers = ReadonlyMap<string, readonly { readonly index: number }[]>;

function definersOf(pieces: readonly Piece[]): Definers {
  const places = pieces.flatMap(({ defined }, index) => [...defined].map((name) => ({ name, index })));
  return Map.groupBy(places, ({ name }) => name);
}

/** Finds the last piece that defines the name. A signature that is repeated behind the code does not replace it. */
function lastThatDefines(name: string, pieces: readonly Piece[], definers: Definers): number | undefined {
  const places = definers.get(name) ?? [];
  const whole = places.findLast(({ index }) => !isSignature(pieces[index]!.code, name));
  return (whole ?? places.at(-1))?.index;
}

/**
 * Returns the piece with the function, behind those earlier pieces that define what it uses and does not define:
 * imports, helpers, constants. A piece that does more than that (an example, a test) or has another version of the
 * function is left out.
 */
function withWhatItNeeds(pieces: readonly Piece[], index: number, name: string): string {
  const main = pieces[index]!;
  const taken = [main.code];
  const used = new Set(wordsOf(main.code));
  const known = new Set([...main.defined, ...main.imported]);
  for (const { code, defined, imported } of pieces.slice(0, index).reverse()) {
    const names = [...defined, ...imported];
    const needed = names.some((each) => used.has(each) && !known.has(each));
    if (!needed || names.includes(name) || !onlyDefines(code, name)) continue;
    taken.push(code.trimEnd());
    for (const each of wordsOf(code)) used.add(each);
    for (const each of names) known.add(each);
  }
  return taken.length === 1 ? main.code : futureFirst(taken.reverse().join('\n\n'));
}

/** Moves `from __future__` to the beginning, the only place where Python allows it. */
function futureFirst(code: string): string {
  const lines = code.split('\n');
  const isFuture = (line: string): boolean => line.startsWith('from __future__ ');
  const future = lines.filter(isFuture);
  return future.length === 0 ? code : [...future, ...lines.filter((line) => !isFuture(line))].join('\n');
}

/**
 * Returns the text between the first "```python" and the next "```"; else between the first two "```"; else all of it.
 */
function paperCode(text: string): string {
  const tagged = between(text, '```python');
  return between(tagged ?? text, '```') ?? tagged ?? text;
}

function between(text: string, opening: string): string | undefined {
  const start = text.indexOf(opening);
  if (start < 0) return undefined;
  const from = start + opening.length;
  const end = text.indexOf('```', from);
  return text.slice(from, end < 0 ? undefined : end);
}
