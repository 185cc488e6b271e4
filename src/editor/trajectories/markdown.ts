/** A text as a quotation. */
export const quoted = (text: string): string => text.replace(/^/gm, '> ');

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CODE_SPAN = /(`+)(?:(?!\1).)+?\1/;

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
  let rest = line.replace(/^( {0,3})(#{1,6}(?=\s|$)|=+\s*$|-+\s*$)/, String.raw`$1\$2`);
  let safe = '';
  for (let span = CODE_SPAN.exec(rest); span !== null; span = CODE_SPAN.exec(rest)) {
    safe += escaped(rest.slice(0, span.index)) + span[0];
    rest = rest.slice(span.index + span[0].length);
  }
  return safe + escaped(rest);
}

const escaped = (text: string): string =>
  text.replace(/<(?=[a-z/!?])/gi, String.raw`\<`).replaceAll('![', String.raw`!\[`);
