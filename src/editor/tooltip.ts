import * as vscode from 'vscode';

/** `MarkdownString.appendText` is not used: it makes each space non-breaking, so that long lines break within words. */
export function tooltip(heading: string, paragraphs: readonly string[]): vscode.MarkdownString {
  const head = heading === '' ? [] : [`**${literal(heading)}**`];
  return new vscode.MarkdownString([...head, ...paragraphs.map(literal)].join('\n\n'));
}

/** A backslash may precede any punctuation (CommonMark 0.31, 2.4). */
const literal = (text: string): string =>
  text
    .replace(/[!-/:-@[-`{-~]/g, String.raw`\$&`)
    .replace(/^ +/gm, (spaces) => '&nbsp;'.repeat(spaces.length))
    .replaceAll('\n', '\\\n');
