import { endOfLine, type Quote } from './source';

/** A fenced piece of an answer. */
export interface Block {
  /** First word behind the opening fence, in lower case. */
  readonly tag: string;
  readonly code: string;
}

const pythonTags = /^(?:python[23]?|py[23]?|pyi|pycon|ipython[23]?|python-repl|sage)$/;

export function isPython({ tag }: Block): boolean {
  return pythonTags.test(tag);
}

export function isUntagged({ tag }: Block): boolean {
  return tag === '' || tag === 'code';
}

interface Fence {
  /** The whole run of backticks or tildes. */
  readonly mark: string;
  readonly tag: string;
  /** Code on the line of the opening fence, behind the tag. */
  readonly code?: string;
  /** True when the code ends on this line, too. */
  readonly closed: boolean;
  readonly quoted: boolean;
}

/**
 * Returns the fenced blocks of a text, in order, as CommonMark 0.31 section 4.5 reads them and as models write them:
 * - a fence may stand behind list markers, ">", invisible characters, or, with a Python tag or a colon, behind prose;
 * - a block may begin and end on one line;
 * - text behind a closing fence does not count; a fence with a Python tag closes the block and opens the next;
 * - a closing fence may stand at the end of the last line of code;
 * - a fence in a triple-quoted string of the code is part of the string, unless that string never ends;
 * - a block of Markdown is looked into.
 */
export function fencedBlocks(text: string): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
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
      continue;
    }
    isCode = false;
    if (outer !== undefined && fence.tag === '' && fence.mark.startsWith(outer)) outer = undefined;
    else if (fence.tag === 'markdown' || fence.tag === 'md') outer = fence.mark;
    else if (fence.closed) blocks.push({ tag: fence.tag, code: fence.code ?? '' });
    else {
      const { code, next } = readBlock(lines, index + 1, fence, endless);
      blocks.push({
        tag: fence.tag,
        code: [...(fence.code === undefined ? [] : [fence.code]), ...code].join('\n'),
      });
      index = next - 1;
    }
  }
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

/** Returns the text before a closing fence of at least the length of `mark`, if the text ends with one. */
function withoutTrailing(text: string, mark: string): string | undefined {
  const trimmed = text.trimEnd();
  if (!trimmed.endsWith(mark)) return undefined;
  let end = trimmed.length;
  while (trimmed[end - 1] === mark[0]) end--;
  return trimmed.slice(0, end);
}

/** Returns the lines of a block, and the index of the line to go on with. */
function readBlock(
  lines: readonly string[],
  start: number,
  { mark, tag, quoted }: Fence,
  endless: Set<Quote>,
): { readonly code: readonly string[]; readonly next: number } {
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
  if (quote === null || inString === undefined) return { code, next: lines.length };
  endless.add(quote);
  return { code: code.slice(0, inString.length), next: inString.next };
}

function isCodeAtEnd(line: string): boolean {
  const { quote, comment } = endOfLine(line, null);
  return quote === null && !comment;
}
