/** A text as a quotation. */
export const quoted = (text: string): string => text.replace(/^/gm, '> ');

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/**
 * Markdown from an untrusted speaker for a document that others stand in, too: in a preview it draws no picture (whose
 * address can carry data away) and no HTML, opens no chapter of its own, and code that it does not close ends with it.
 * Code stays as it is.
 */
export function harmless(text: string): string {
  let fence: string | undefined;
  const lines = text.split('\n').map((line) => {
    const mark = FENCE.exec(line)?.[1];
    if (fence === undefined) {
      fence = mark;
      return mark === undefined ? prose(line) : line;
    }
    if (mark?.startsWith(fence) === true && line.trim() === mark) fence = undefined;
    return line;
  });
  return fence === undefined ? lines.join('\n') : [...lines, fence].join('\n');
}

function prose(line: string): string {
  const whole = line.replace(/^( {0,3})(#{1,6}(?=\s|$)|=+\s*$|-+\s*$)/, String.raw`$1\$2`);
  let safe = '';
  let end = 0;
  for (const span of codeSpans(whole)) {
    safe += escaped(whole.slice(end, span.start)) + whole.slice(span.start, span.end);
    end = span.end;
  }
  return safe + escaped(whole.slice(end));
}

/** Code within a line: from a run of backticks to the next one of the same length, as in CommonMark. */
function codeSpans(line: string): { start: number; end: number }[] {
  const runs = [...line.matchAll(/`+/g)].map(({ index, 0: { length } }) => ({ start: index, length }));
  const nextByLength = new Map<number, number>();
  const next = runs.map(() => -1);
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    next[at] = nextByLength.get(runs[at]!.length) ?? -1;
    nextByLength.set(runs[at]!.length, at);
  }
  const spans: { start: number; end: number }[] = [];
  for (let at = 0; at < runs.length; at += 1) {
    const closing = runs[next[at]!];
    if (closing === undefined) continue;
    spans.push({ start: runs[at]!.start, end: closing.start + closing.length });
    at = next[at]!;
  }
  return spans;
}

const escaped = (text: string): string =>
  text.replace(/<(?=[a-z/!?])/gi, String.raw`\<`).replaceAll('![', String.raw`!\[`);
