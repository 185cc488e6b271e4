// The only place of the command line that writes. Ids, roles, paths and the sentences of faults may be anybody's: what in
// them would command the terminal is shown as text.
import { printable } from '../core/printable';

const KEPT = '\n\t';
const CLEAR_LINE = '\r\u001b[K';

/** The result, for whoever reads stdout. */
export function print(text: string): void {
  process.stdout.write(`${printable(text, KEPT)}\n`);
}

/** An object on stdout, in one line that a terminal shows and a program reads as it was. */
export function printJson(value: unknown): void {
  const text = JSON.stringify(value).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  );
  process.stdout.write(`${text}\n`);
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
