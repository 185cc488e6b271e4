// All output of the command line is written here. Ids, roles, paths and messages may hold foreign text: control
// sequences in them are shown as text and never reach the terminal.
import { once } from 'node:events';
import { printable } from '../core/text';

const KEPT = '\n\t';
const CLEAR_LINE = '\r\u001b[K';

export function print(text: string): void {
  process.stdout.write(`${printable(text, KEPT)}\n`);
}

/** No faster than the lines are read. */
export async function printLines(lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) await write(`${printable(line, KEPT)}\n`);
}

/** One line, with control characters escaped. */
export function printJson(value: unknown): void {
  process.stdout.write(`${json(value)}\n`);
}

/** As `printJson`, with `rows` as its first field; the rows are streamed. */
export async function printRows(rows: AsyncIterable<unknown>, others: object): Promise<void> {
  let before = '{"rows":[';
  for await (const row of rows) {
    await write(`${before}${json(row)}`);
    before = ',';
  }
  await write(`${before === ',' ? '' : before}],${json(others).slice(1)}\n`);
}

function json(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  );
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Goes to stderr, where progress belongs. */
export function say(line: string): void {
  process.stderr.write(`${printable(line, KEPT)}\n`);
}

/** Replaces the line of `sayOver`, on stderr. */
export function sayInstead(line: string): void {
  process.stderr.write(`${CLEAR_LINE}${printable(line, KEPT)}\n`);
}

/** On a terminal, the next output overwrites this line. */
export function sayOver(line: string): void {
  process.stderr.write(`${CLEAR_LINE}${printable(line).slice(0, process.stderr.columns - 1)}`);
}

/** The line of `sayOver` then stays. */
export function endLine(): void {
  process.stderr.write('\n');
}
