import type { GradingMode } from './grade';
import {
  codeAmongProse,
  calledNames,
  definitionsIn,
  isSignature,
  onlyDefines,
  tidy,
  topLevelOf,
  wordsOf,
  type TopLevel,
  endOfLine,
  type Quote,
} from './source';

/**
 * Returns the Python code in an agent's answer; the whole text when it has neither fence nor prose. Line 1 of an error is the first
 * line of the returned code.
 *
 * `fixed`: the last block that defines the function that the calls name, behind the earlier blocks that it needs; what
 * stands outside of fences is the last resort.
 * `paper`: the code that the published grader takes. Both: docs/grading.md, "Which code is graded".
 * @param calls the calls of the task's tests
 */
export function extractCode(text: string, mode: GradingMode, calls: readonly string[]): string {
  return mode === 'paper' ? paperCode(text) : fixedCode(text, calls);
}

function fixedCode(text: string, calls: readonly string[]): string {
  const normal = text.replace(/\r\n?/g, '\n');
  const pieces = blocksOf(normal).map(pieceOf);
  const fenced = pieces.filter((piece) => !isOutside(piece));
  const python = pieces.filter((piece) => isPython(piece) || isOutside(piece));
  const untagged = pieces.filter((piece) => isUntagged(piece) || isOutside(piece));
  const choices = [python, untagged].map((candidates) => ({ candidates, definers: definersOf(candidates) }));
  for (const name of calledNames(calls)) {
    for (const isChosen of [(piece: Piece) => !isOutside(piece), isOutside]) {
      for (const { candidates, definers } of choices) {
        const index = lastThatDefines(name, candidates, definers, isChosen);
        if (index !== undefined) return withWhatItNeeds(pieces, candidates, candidates[index]!, name);
      }
    }
  }
  const possible = fenced.filter((piece) => isPython(piece) || isUntagged(piece));
  const defines = ({ code }: Piece): boolean => definition.test(code);
  const found = possible.findLast(defines) ?? pieces.filter(isOutside).findLast(defines);
  if (found !== undefined) return found.code;
  if (fenced.length === 0) return tidy(normal);
  return (possible.length > 0 ? possible : fenced).at(-1)!.code;
}

const definition = /^[ \t]*(?:async[ \t]+def|def|class)[ \t]/m;

type Piece = Block & TopLevel;

function pieceOf(block: Block): Piece {
  const code = tidy(block.code);
  return { ...block, code, ...topLevelOf(code) };
}

type Definers = ReadonlyMap<string, readonly { readonly index: number }[]>;

function definersOf(pieces: readonly Piece[]): Definers {
  const places = pieces.flatMap(({ defined }, index) => [...defined].map((name) => ({ name, index })));
  return Map.groupBy(places, ({ name }) => name);
}

/** A signature that is repeated behind the code does not replace it. */
function lastThatDefines(
  name: string,
  pieces: readonly Piece[],
  definers: Definers,
  isChosen: (piece: Piece) => boolean,
): number | undefined {
  const places = (definers.get(name) ?? []).filter(({ index }) => isChosen(pieces[index]!));
  const whole = places.findLast(({ index }) => !isSignature(pieces[index]!.code, name));
  return (whole ?? places.at(-1))?.index;
}

/**
 * The piece with the function, between those other pieces that define what it uses and does not define. Of a piece that
 * does more than define (an example, a test), has another version of the function or another kind of tag, or comes
 * later, only the other functions and classes count.
 */
function withWhatItNeeds(
  all: readonly Piece[],
  candidates: readonly Piece[],
  main: Piece,
  name: string,
): string {
  const pieces = all.filter((piece) => isPython(piece) || isUntagged(piece) || isOutside(piece));
  const index = pieces.indexOf(main);
  const ofKind = new Set(candidates);
  const used = new Set(wordsOf(main.code));
  const known = new Set([...main.defined, ...main.imported]);
  const neededOf = (piece: Piece, code: string | undefined): string[] => {
    if (code === undefined || piece.imported.has(name)) return [];
    const { defined, imported } = code === piece.code ? piece : topLevelOf(code);
    const names = [...defined, ...imported];
    if (!names.some((each) => used.has(each) && !known.has(each))) return [];
    for (const each of wordsOf(code)) used.add(each);
    for (const each of names) known.add(each);
    return [code.trimEnd()];
  };
  const later = pieces.slice(index + 1).flatMap((piece) => neededOf(piece, definitionsIn(piece.code, name)));
  const earlier = pieces
    .slice(0, index)
    .reverse()
    .flatMap((piece) => {
      const isWhole = ofKind.has(piece) && !piece.defined.has(name) && onlyDefines(piece.code, name);
      return neededOf(piece, isWhole ? piece.code : definitionsIn(piece.code, name));
    });
  if (later.length + earlier.length === 0) return main.code;
  return futureFirst([...earlier.reverse(), main.code, ...later].join('\n\n'));
}

/** The beginning is the only place where Python allows `from __future__`. */
function futureFirst(code: string): string {
  const lines = code.split('\n');
  const isFuture = (line: string): boolean => line.startsWith('from __future__ ');
  const future = lines.filter(isFuture);
  return future.length === 0 ? code : [...future, ...lines.filter((line) => !isFuture(line))].join('\n');
}

/** The text between the first "```python" and the next "```"; else between the first two "```"; else all of it. */
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

interface Block {
  /** First word behind the opening fence, in lower case. */
  readonly tag: string;
  readonly code: string;
  /** True for code between, before or behind the fences. */
  readonly outside?: boolean;
}

function isOutside({ outside }: Block): boolean {
  return outside === true;
}

const pythonTags = /^(?:python[23]?|py[23]?|pyi|pycon|ipython[23]?|python-repl|sage)$/;

function isPython({ tag }: Block): boolean {
  return pythonTags.test(tag);
}

function isUntagged({ tag, outside }: Block): boolean {
  return outside !== true && (tag === '' || tag === 'code');
}

interface Fence {
  readonly mark: string;
  readonly tag: string;
  /** Code on the line of the opening fence, behind the tag. */
  readonly code?: string;
  /** True when the code ends on this line, too. */
  readonly closed: boolean;
  readonly quoted: boolean;
}

/**
 * Returns the blocks of a text, in order: the code outside of fences, and what is fenced, as CommonMark 0.31 section 4.5
 * reads it and as models write it:
 * - a fence may stand behind list markers, ">", invisible characters, or, with a Python tag or a colon, behind prose;
 * - a block may begin and end on one line;
 * - text behind a closing fence does not count; a fence with a Python tag closes the block and opens the next;
 * - a closing fence may stand at the end of the last line of code;
 * - a fence in a triple-quoted string of the code is part of the string, unless that string never ends;
 * - a block of Markdown is looked into.
 */
function blocksOf(text: string): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  let outside: string[] = [];
  const endOutside = (): void => {
    const code = codeAmongProse(outside);
    if (code !== undefined) blocks.push({ tag: '', code, outside: true });
    outside = [];
  };
  const endless = new Set<Quote>();
  let outer: string | undefined; // the fence of the Markdown block around this line
  let isCode = false;
  let quote: Quote = null;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    const fence = quote === null ? openingFence(line) : undefined;
    if (fence === undefined) {
      // An answer without fences may have one in a docstring; in prose a triple quote opens nothing.
      isCode ||= startsCode.test(line);
      if (isCode) quote = endOfLine(line, quote).quote;
      outside.push(line);
      continue;
    }
    endOutside();
    isCode = false;
    if (outer !== undefined && fence.tag === '' && fence.mark.startsWith(outer)) outer = undefined;
    else if (fence.tag === 'markdown' || fence.tag === 'md') outer = fence.mark;
    else if (fence.closed) blocks.push({ tag: fence.tag, code: fence.code ?? '' });
    else {
      const { code, next, isOpen } = readBlock(lines, index + 1, fence, endless);
      const all = [...(fence.code === undefined ? [] : [fence.code]), ...code];
      // Prose behind the code of a fence that nothing closes is in the block, too.
      blocks.push({ tag: fence.tag, code: (isOpen ? codeAmongProse(all) : undefined) ?? all.join('\n') });
      index = next - 1;
    }
  }
  endOutside();
  return blocks;
}

const invisible = '\\s\\u200b\\u2060\\ufeff';
const atStart = new RegExp(`^((?:[${invisible}>]|[-*+] |\\d+[.)] )*)(\`{3,}|~{3,})(.*)`, 's');
const behindProse = /^(?!\s*#)[^`]*(?::|\s)(`{3,})[ \t]*(?:([\w.+-]+)[ \t]*)?$/;
const startsCode =
  /^\s*(?:(?:async[ \t]+def|def|class)[ \t]+\w+[ \t]*[(:[]|\w+[ \t]*=[^=]|[rRbBuUfF]{0,2}(?:"""|'''))/;
/** Matches the beginning of a line of Python that stands beside a fence. */
const statement = /^(?:(?:async|def|class|import|from)[ \t]|@|\w+[ \t]+=[ \t])/;

function openingFence(line: string): Fence | undefined {
  const [, before, mark, info] = atStart.exec(line) ?? [];
  if (mark === undefined) return fenceBehindProse(line);
  const quoted = before!.includes('>');
  const { tag, rest } = tagOf(info!);
  const inner = withoutTrailing(rest, mark);
  if (inner !== undefined && statement.test(inner)) return { mark, tag, code: inner, closed: true, quoted };
  if (mark.startsWith('`') && info!.includes('`')) return undefined;
  return { mark, tag, code: statement.test(rest) ? rest : undefined, closed: false, quoted };
}

function fenceBehindProse(line: string): Fence | undefined {
  const [whole, mark, info = ''] = behindProse.exec(line) ?? [];
  if (mark === undefined) return undefined;
  const { tag } = tagOf(info);
  const introduced = tag === '' && whole!.slice(0, whole!.indexOf(mark)).trimEnd().endsWith(':');
  return introduced || pythonTags.test(tag) ? { mark, tag, closed: false, quoted: false } : undefined;
}

function tagOf(info: string): { readonly tag: string; readonly rest: string } {
  const text = info.trim();
  if (statement.test(text)) return { tag: '', rest: text };
  const [whole, tag] = /^\{?\.?([\w+-]*)/.exec(text)!;
  return { tag: tag!.toLowerCase(), rest: text.slice(whole.length).trim() };
}

function withoutTrailing(text: string, mark: string): string | undefined {
  const trimmed = text.trimEnd();
  if (!trimmed.endsWith(mark)) return undefined;
  let end = trimmed.length;
  while (trimmed[end - 1] === mark[0]) end--;
  return trimmed.slice(0, end);
}

/** @returns the lines of a block, and the index of the line after it */
function readBlock(
  lines: readonly string[],
  start: number,
  { mark, tag, quoted }: Fence,
  endless: Set<Quote>,
): { readonly code: readonly string[]; readonly next: number; readonly isOpen?: boolean } {
  const hasStrings = pythonTags.test(tag) || tag === '' || tag === 'code';
  const code: string[] = [];
  let quote: Quote = null;
  let inString: { readonly length: number; readonly next: number } | undefined;
  for (let index = start; index < lines.length; index++) {
    const line = quoted ? lines[index]!.replace(/^\s*(?:>\s?)+/, '') : lines[index]!;
    const [, , other, info] = atStart.exec(line) ?? [];
    if (other?.startsWith(mark)) {
      const opensNext = pythonTags.test(tagOf(info!).tag);
      if (quote === null) return { code, next: opensNext ? index : index + 1 };
      if (info!.trim() === '') inString ??= { length: code.length, next: index + 1 };
    }
    const last = quote === null && hasStrings ? withoutTrailing(line, mark) : undefined;
    if (last !== undefined && isCodeAtEnd(last)) return { code: [...code, last], next: index + 1 };
    code.push(line);
    if (!hasStrings) continue;
    quote = endOfLine(line, quote).quote;
    if (quote !== null && endless.has(quote)) quote = null;
  }
  // A string that never ends is broken code, and the fence in it was a real one. No later string of the kind ends either.
  if (quote === null || inString === undefined) return { code, next: lines.length, isOpen: hasStrings };
  endless.add(quote);
  return { code: code.slice(0, inString.length), next: inString.next };
}

function isCodeAtEnd(line: string): boolean {
  const { quote, comment } = endOfLine(line, null);
  return quote === null && !comment;
}
