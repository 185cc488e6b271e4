// For reports, cards, previews and the chat. Text of others is shown literally.

/** At least `least` backticks, and more than any run of backticks in the text. */
export function fenceFor(text: string, least: number): string {
  let longest = least - 1;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return '`'.repeat(longest + 1);
}

/** Nothing in the code can close the fence. */
export function fenced(code: string, language: string): string {
  const fence = fenceFor(code, 3);
  return `${fence}${language}\n${code}\n${fence}`;
}

/** For text of a model or a task, so that it is not read as Markdown or HTML. */
export const escaped = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>#|~]/g, '\\$&');

/** As `escaped`, on one line. */
export const cell = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\|<`*_[\]]/g, '\\$&');

/** @param rows cells in Markdown: text of others must go through `cell` first */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
