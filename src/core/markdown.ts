/*
 * Helpers for the Markdown that Tandem writes: reports, cards, previews, the chat. Text of others is shown literally.
 */

/** Returns a fence of at least `least` backticks, longer than any run of backticks in the text. */
export function fenceFor(text: string, least: number): string {
  let longest = least - 1;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return '`'.repeat(longest + 1);
}

/** Returns a code block whose fence nothing in the code can close. */
export function fenced(code: string, language: string): string {
  const fence = fenceFor(code, 3);
  return `${fence}${language}\n${code}\n${fence}`;
}

/** Escapes text of a model or a task so that it is not read as Markdown or HTML. */
export const escaped = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>#|~]/g, '\\$&');

/** Escapes such text for a table cell, and puts it on one line. */
export const cell = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\|<`*_[\]]/g, '\\$&');

/** @param rows cells in Markdown: text of others must go through `cell` first */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
