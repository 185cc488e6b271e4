// All output of the command line is written here. Ids, roles, paths and messages may hold foreign text: control
// sequences in them are shown as text and never reach the terminal.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Presets, SingleBar } from 'cli-progress';
import { inEnglish, linesOf, type Table } from '../core/evaluation/report/table';
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

/**
 * A line that the next one replaces on a terminal; elsewhere one is printed every `intervalMs`, and the last one before
 * a line that stays.
 */
export class StatusLine {
  readonly isTerminal = process.stderr.isTTY;
  private isShown = false;
  private printedAt = performance.now();
  private pending: string | undefined;

  constructor(private readonly intervalMs: number) {}

  show(line: string): void {
    if (this.isTerminal) {
      process.stderr.write(`${CLEAR_LINE}${printable(line).slice(0, process.stderr.columns - 1)}`);
      this.isShown = true;
      return;
    }
    this.pending = line;
    if (performance.now() - this.printedAt >= this.intervalMs) this.end();
  }

  /** This line stays. */
  say(line: string): void {
    if (this.isShown) process.stderr.write(CLEAR_LINE);
    this.isShown = false;
    this.end();
    say(line);
  }

  /** The line that is shown stays. */
  end(): void {
    if (this.isShown) process.stderr.write('\n');
    this.isShown = false;
    if (this.pending === undefined) return;
    say(this.pending);
    this.pending = undefined;
    this.printedAt = performance.now();
  }
}

const LINE_INTERVAL_MS = 5000;

/** Rate and time left: a bar, or without a terminal a plain line now and then. On stderr, so that stdout can be piped. */
export class Progress implements Disposable {
  private readonly started = performance.now();
  private readonly bar: SingleBar | undefined;
  private readonly line = new StatusLine(LINE_INTERVAL_MS);
  private first: number | undefined;

  constructor(
    private readonly what: string,
    private readonly unit: string,
  ) {
    if (!process.stderr.isTTY) return;
    const format = `${printable(what)} {bar} {percentage} % · {value}/{total} ${unit} · {rate}/s · {left} left {note}`;
    this.bar = new SingleBar({ format, stream: process.stderr, hideCursor: true }, Presets.shades_classic);
  }

  /** @param note a short remark beside the bar */
  update(done: number, total: number, note = ''): void {
    if (this.first === undefined)
      this.bar?.start(total, done, { rate: '–', left: '–', note: printable(note) });
    this.first ??= done;
    const speed = rateOf(done - this.first, this.started);
    const [rate, left] = [speed.toFixed(1), timeLeft(total - done, speed)];
    if (this.bar === undefined) {
      const remark = note === '' ? '' : `, ${note}`;
      this.line.show(`${this.what}: ${done}/${total} ${this.unit}, ${rate}/s, ${left} left${remark}`);
      return;
    }
    this.bar.setTotal(total);
    this.bar.update(done, { rate, left, note: printable(note) });
  }

  end(): void {
    if (this.first !== undefined) this.bar?.stop();
    this.line.end();
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

/** For work of unknown length; prints a plain line every `LINE_INTERVAL_MS`. */
export function startCount(what: string, unit: string): (done: number) => void {
  const started = performance.now();
  let last = started;
  return (done) => {
    if (performance.now() - last < LINE_INTERVAL_MS) return;
    last = performance.now();
    say(`${what}: ${done} ${unit}, ${rateOf(done, started).toFixed(1)}/s`);
  };
}

function rateOf(done: number, started: number): number {
  return done / Math.max(0.001, (performance.now() - started) / 1000);
}

function timeLeft(remaining: number, rate: number): string {
  if (remaining === 0) return '0 s';
  if (rate === 0) return '–';
  return duration(remaining / rate);
}

/** `40 s`, `3 min 20 s` or `2 h 5 min`. */
export function duration(exact: number): string {
  const seconds = Math.round(exact);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The first row is the head; numbers are aligned right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) widened(widths, row);
  return rows.map((row) => tableLine(row, widths)).join('\n');
}

/** With its note. */
export const tableInWords = (of: Table): string =>
  [table(linesOf(of)), ...(of.note === undefined ? [] : [inEnglish(of.note)])].join('\n');

/** Widens the columns in place so that a row fits. */
export function widened(widths: number[], row: readonly string[]): number[] {
  for (const [column, text] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, text.length);
  return widths;
}

export function tableLine(row: readonly string[], widths: readonly number[]): string {
  const cell = (text: string, column: number): string =>
    /^[\d−+–]/.test(text) ? text.padStart(widths[column]!) : text.padEnd(widths[column]!);
  return row.map(cell).join('  ').trimEnd();
}

/** Asks on stderr; only a person at a terminal can answer with yes. */
export async function confirmed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl+C and Ctrl+D close the question, which means no.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  terminal.once('SIGINT', () => terminal.close());
  const asked = terminal.question(`${question} [y/N] `).catch(() => '');
  const reply = await Promise.race([asked, closed]);
  terminal.close();
  return /^y(es)?$/i.test(reply.trim());
}
