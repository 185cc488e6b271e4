import type { GradingMode } from './grade';

/**
 * The Python code in what an agent answered: the whole text when it has no fence.
 *
 * `fixed`: fences of backticks or tildes, in any case and indentation, as CommonMark 0.31 section 4.5 reads them, except
 * that a fence inside a triple-quoted string of the code is part of the string. Of several blocks, the last Python (or
 * untagged) one that defines something counts. `paper`: see docs/grading.md.
 */
export function extractCode(text: string, mode: GradingMode): string {
  return mode === 'paper' ? paperCode(text) : fixedCode(text);
}

interface Block {
  /** First word behind the opening fence, in lower case. */
  readonly tag: string;
  readonly code: string;
}

const pythonTags = new Set([
  '',
  'python',
  'python3',
  'py',
  'py3',
  'python2',
  'pycon',
  'ipython',
  'text',
  'code',
]);
const definition = /^[ \t]*(?:async[ \t]+def|def|class)[ \t]/m;

function fixedCode(text: string): string {
  const normal = text.replace(/\r\n?/g, '\n');
  const blocks = fencedBlocks(normal);
  if (blocks.length === 0) return normal;
  const python = blocks.filter(({ tag }) => pythonTags.has(tag));
  const suitable = python.length > 0 ? python : blocks;
  return (suitable.findLast(({ code }) => definition.test(code)) ?? suitable.at(-1)!).code;
}

const fenceLine = /^([ \t]*)(`{3,}|~{3,})(.*)$/;

function fencedBlocks(text: string): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  // An answer without fences may have one in a docstring.
  let quote: Quote = null;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    const [, indent, fence, info] = fenceLine.exec(line) ?? [];
    if (fence === undefined || quote !== null || (fence.startsWith('`') && info!.includes('`'))) {
      quote = quoteAfter(line, quote);
      continue;
    }
    const end = blockEnd(lines, index + 1, fence);
    const body = lines.slice(index + 1, end).map((inner) => withoutIndent(inner, indent!));
    const tag = /^\{?\.?([\w+-]*)/.exec(info!.trim())![1]!.toLowerCase();
    blocks.push({ tag, code: body.join('\n') });
    index = end;
  }
  return blocks;
}

/** Index of the line that closes the fence; the number of lines when none does. */
function blockEnd(lines: readonly string[], start: number, fence: string): number {
  const closes = (line: string): boolean => {
    const bare = line.trim();
    return bare.length >= fence.length && bare === fence.charAt(0).repeat(bare.length);
  };
  let quote: Quote = null;
  let closingInString: number | undefined;
  for (let index = start; index < lines.length; index++) {
    if (closes(lines[index]!)) {
      if (quote === null) return index;
      closingInString ??= index;
    }
    quote = quoteAfter(lines[index]!, quote);
  }
  // A string that never ends is broken code, and the fence in it was a real one.
  return quote !== null && closingInString !== undefined ? closingInString : lines.length;
}

function withoutIndent(line: string, indent: string): string {
  return line.startsWith(indent) ? line.slice(indent.length) : line.trimStart();
}

/** The triple quote that is open, if any. */
type Quote = "'''" | '"""' | null;

/** The triple quote that is open behind a line of Python, given the one that is open before it. */
function quoteAfter(line: string, before: Quote): Quote {
  let open = before;
  for (let at = 0; at < line.length; at++) {
    const three = line.slice(at, at + 3);
    if (open !== null) {
      if (line[at] === '\\') at++;
      else if (three === open) {
        open = null;
        at += 2;
      }
    } else if (line[at] === '#') return null;
    else if (three === "'''" || three === '"""') {
      open = three;
      at += 2;
    } else if (line[at] === "'" || line[at] === '"') at = stringEnd(line, at);
  }
  return open;
}

/** Index of the quote that ends the string that begins at `start`; `start` when the line has none: an apostrophe. */
function stringEnd(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at++) {
    if (line[at] === '\\') at++;
    else if (line[at] === line[start]) return at;
  }
  return start;
}

/** What is between the first opening "```python" and the next "```"; else between the first two "```"; else everything. */
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
