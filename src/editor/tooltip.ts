import * as vscode from 'vscode';

/**
 * Paragraphs of plain text as a tooltip. `MarkdownString.appendText` makes every space one at which no line breaks, so
 * that long lines break within words.
 * @param heading in bold, above them; empty for none
 */
export function tooltip(heading: string, paragraphs: readonly string[]): vscode.MarkdownString {
  const head = heading === '' ? [] : [`**${literal(heading)}**`];
  return new vscode.MarkdownString([...head, ...paragraphs.map(literal)].join('\n\n'));
}

/** A text that Markdown shows as it is: any punctuation may stand behind a backslash (CommonMark 0.31, 2.4). */
const literal = (text: string): string =>
  text
    .replace(/[!-/:-@[-`{-~]/g, String.raw`\$&`)
    .replace(/^ +/gm, (spaces) => '&nbsp;'.repeat(spaces.length))
    .replaceAll('\n', '\\\n');
