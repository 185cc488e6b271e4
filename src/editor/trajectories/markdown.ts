import { LINE_END, MarginFences } from '../marginFences';

export const quoted = (text: string): string => text.replace(/^/gm, '> ');

/**
 * Makes an untrusted speaker's Markdown safe for a document that holds other texts, too. In a preview it draws no
 * picture (whose address can carry data away) and no HTML, opens no chapter of its own, and code that it does not close
 * ends with it. Code stays as it is where every reader takes it for code.
 */
export function harmless(text: string): string {
  const shown: string[] = [];
  let block: string[] = [];
  const fences = new MarginFences();
  const endBlock = (): void => {
    if (block.length > 0) for (const line of proseOf(block)) shown.push(line);
    block = [];
  };
  for (const line of text.split(LINE_END)) {
    const code = fences.take(line);
    if (code === undefined) block.push(line);
    if (code !== undefined || line.trim() === '') endBlock();
    if (code !== undefined) shown.push(code);
  }
  endBlock();
  if (fences.mark !== undefined) shown.push(fences.mark);
  return shown.join('\n');
}

/** @param block lines of which only the last may be blank */
function proseOf(block: readonly string[]): string[] {
  const lines = block.map((line) =>
    line.replace(/^( {0,3})(#{1,6}(?=\s|$)|=+\s*$|-+\s*$)/, String.raw`$1\$2`),
  );
  // In one paragraph, a code span may continue in the next line.
  const texts = lines.every((line) => CERTAINLY_PARAGRAPH.test(line)) ? [lines.join('\n')] : lines;
  const codes = texts.map(codeSpans);
  // Otherwise a span may end elsewhere: in another line, with a cell of a table, or in a formula.
  const isCode =
    codes.every(({ isWhole }) => isWhole) && !lines.some((line) => line.includes('$') || isBelowHead(line));
  return texts.flatMap((text, index) => {
    let safe = '';
    let end = 0;
    for (const span of codes[index]!.spans) {
      const code = text.slice(span.start, span.end);
      safe += escaped(text.slice(end, span.start)) + (isCode || !DRAWN.test(code) ? code : literal(code));
      end = span.end;
    }
    return (safe + escaped(text.slice(end))).split('\n');
  });
}

/** Matches the beginning of a line that can only be a paragraph, or a blank line, which ends one. */
const CERTAINLY_PARAGRAPH = /^ {0,3}[\p{L}`"'(]|^\s*$/u;

/** Returns whether the line may be the rule below the head of a table, in a quotation or list, too. */
const isBelowHead = (line: string): boolean => line.includes('-') && /^[-+*>|:\s\d.)\\]*$/.test(line);

interface Code {
  readonly spans: readonly { readonly start: number; readonly end: number }[];
  /** True when every backtick belongs to a span, so that none continues in another line. */
  readonly isWhole: boolean;
}

/** Finds the code spans of a text: from a run of backticks to the next one of the same length, as in CommonMark. */
function codeSpans(text: string): Code {
  const runs = [...text.matchAll(/`+/g)].map(({ index, 0: { length } }) => ({ start: index, length }));
  const nextByLength = new Map<number, number>();
  const next = runs.map(() => -1);
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    next[at] = nextByLength.get(runs[at]!.length) ?? -1;
    nextByLength.set(runs[at]!.length, at);
  }
  const spans: { start: number; end: number }[] = [];
  let isWhole = true;
  for (let at = 0; at < runs.length; at += 1) {
    const { start } = runs[at]!;
    const closing = runs[next[at]!];
    // A backslash escapes the first backtick.
    isWhole &&= closing !== undefined && text[start - 1] !== '\\';
    if (closing === undefined) continue;
    spans.push({ start, end: closing.start + closing.length });
    at = next[at]!;
  }
  return { spans, isWhole };
}

/** Matches the beginning of anything drawn outside of code: a tag, a comment, a picture. */
const DRAWN = /<(?=[a-z/!?])|!\[/i;
const DRAWN_OR_ESCAPED = /\\[^]|<(?=[a-z/!?])|!\[/gi;

/** Escapes tags and pictures. Anything after a backslash is escaped already, and one more would undo that. */
const escaped = (text: string): string =>
  text.replace(DRAWN_OR_ESCAPED, (found) =>
    found.startsWith('\\') ? found : found === '<' ? String.raw`\<` : String.raw`!\[`,
  );

/** Escapes all punctuation, whatever it means. */
const literal = (text: string): string => text.replace(/[!-/:-@[-`{-~]/g, String.raw`\$&`);
