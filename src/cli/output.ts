// All output of the command line is written here. Ids, roles, paths and messages may hold foreign text: control
// sequences in them are shown as text and never reach the terminal.
import { once } from 'node:events';
import { printable } from '../core/printable';

const KEPT = '\n\t';
const CLEAR_LINE = '\r\u001b[K';

/** Prints the result on stdout. */
export function print(text: string): void {
  process.stdout.write(`${printable(text, KEPT)}\n`);
}

/** Prints lines of the result, no faster than they are read. */
export async function printLines(lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) await write(`${printable(line, KEPT)}\n`);
}

/** Prints an object on stdout as one line of JSON, in which control characters are escaped. */
export function printJson(value: unknown): void {
  process.stdout.write(`${json(value)}\n`);
}

/** Prints an object as `printJson` does, with `rows` as its first field; the rows are streamed. */
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

/** Writes to stdout and resolves when more may be written. */
async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Prints a line on stderr. */
export function say(line: string): void {
  process.stderr.write(`${printable(line, KEPT)}\n`);
}

/** Prints a line on stderr in place of the one from `sayOver`. */
export function sayInstead(line: string): void {
  process.stderr.write(`${CLEAR_LINE}${printable(line, KEPT)}\n`);
}

/** Prints a line on a terminal that the next output overwrites. */
export function sayOver(line: string): void {
  process.stderr.write(`${CLEAR_LINE}${printable(line).slice(0, process.stderr.columns - 1)}`);
}

/** Ends the line from `sayOver`, which then stays. */
export function endLine(): void {
  process.stderr.write('\n');
}
