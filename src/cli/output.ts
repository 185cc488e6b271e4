// The only place of the command line that writes. Ids, roles, paths and the sentences of faults may be anybody's: what in
// them would command the terminal is shown as text.
import { once } from 'node:events';
import { printable } from '../core/printable';

const KEPT = '\n\t';
const CLEAR_LINE = '\r\u001b[K';

/** The result, for whoever reads stdout. */
export function print(text: string): void {
  process.stdout.write(`${printable(text, KEPT)}\n`);
}

/** The same line by line, no faster than they are read. */
export async function printLines(lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) await write(`${printable(line, KEPT)}\n`);
}

/** An object on stdout, in one line that a terminal shows and a program reads as it was. */
export function printJson(value: unknown): void {
  process.stdout.write(`${json(value)}\n`);
}

/** The same of an object whose first field is a list, of which one item after the other is written. */
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

/** Resolves when more may be written. */
async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** A line beside the result. */
export function say(line: string): void {
  process.stderr.write(`${printable(line, KEPT)}\n`);
}

/** The same in place of what `sayOver` has written last. */
export function sayInstead(line: string): void {
  process.stderr.write(`${CLEAR_LINE}${printable(line, KEPT)}\n`);
}

/** A line that what comes next overwrites, on a terminal. */
export function sayOver(line: string): void {
  process.stderr.write(`${CLEAR_LINE}${printable(line).slice(0, process.stderr.columns - 1)}`);
}

/** Leaves what `sayOver` has written last where it is. */
export function endLine(): void {
  process.stderr.write('\n');
}
