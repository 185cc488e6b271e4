import { createInterface } from 'node:readline/promises';
import { Presets, SingleBar } from 'cli-progress';
import { printable } from '../core/text';
import { say } from './output';

/** Drawn on stderr, so that stdout can be piped. */
interface ProgressBar {
  /** `note` is a short remark beside the bar. */
  update(done: number, total: number, note?: string): void;
  end(): void;
}

/** Shows rate and time left; without a terminal, a plain line every `LINE_INTERVAL_MS`. */
export function startProgress(what: string, unit: string): ProgressBar {
  return process.stderr.isTTY ? new BarProgress(what, unit) : new LineProgress(what, unit);
}

class BarProgress implements ProgressBar {
  private readonly started = performance.now();
  private readonly bar: SingleBar;
  private running = false;
  private first = 0;

  constructor(
    private readonly what: string,
    private readonly unit: string,
  ) {
    const format = `${printable(this.what)} {bar} {percentage} % · {value}/{total} ${this.unit} · {rate}/s · {left} left {note}`;
    this.bar = new SingleBar({ format, stream: process.stderr, hideCursor: true }, Presets.shades_classic);
  }

  update(done: number, total: number, note = ''): void {
    if (!this.running) {
      this.running = true;
      this.first = done;
      this.bar.start(total, done, { rate: '–', left: '–', note: printable(note) });
    }
    this.bar.setTotal(total);
    const rate = rateOf(done - this.first, this.started);
    this.bar.update(done, {
      rate: rate.toFixed(1),
      left: timeLeft(total - done, rate),
      note: printable(note),
    });
  }

  end(): void {
    if (this.running) this.bar.stop();
  }
}

const LINE_INTERVAL_MS = 5000;

class LineProgress implements ProgressBar {
  private readonly started = performance.now();
  private last = performance.now();
  private first: number | undefined;
  private latest = '';

  constructor(
    private readonly what: string,
    private readonly unit: string,
  ) {}

  update(done: number, total: number, note = ''): void {
    this.first ??= done;
    const rate = rateOf(done - this.first, this.started);
    this.latest =
      `${this.what}: ${done}/${total} ${this.unit}, ${rate.toFixed(1)}/s, ` +
      `${timeLeft(total - done, rate)} left${note === '' ? '' : `, ${note}`}`;
    if (performance.now() - this.last < LINE_INTERVAL_MS) return;
    this.last = performance.now();
    this.print();
  }

  end(): void {
    this.print();
  }

  private print(): void {
    if (this.latest !== '') say(this.latest);
    this.latest = '';
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
