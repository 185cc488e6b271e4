import type { LoopProgress } from '../core/evaluation/loop/plan';
import { duration } from './terminal';
import { endLine, say, sayInstead, sayOver } from './output';

type Working = Extract<LoopProgress, { state: 'working' }>;

const EVERY_MS = 10_000;
/** Width of the column of stage names: the longest name and a space. */
const NAME = 10;

/** Prints a line on stderr for each stage: its progress and the time left, then its result. */
export class StageLines {
  private readonly isTerminal = process.stderr.isTTY;
  private lastShown = 0;
  private isOpen = false;
  /** The current piece of work: `done` and the time (ms) when it was first seen. */
  private piece: { readonly what: string; readonly from: number; readonly since: number } | undefined;

  show(progress: LoopProgress): void {
    const { stage } = progress;
    if (progress.state === 'working') {
      this.passing(`${stage.padEnd(NAME)}${this.working(progress)}`);
      return;
    }
    this.piece = undefined;
    if (progress.state === 'begun') {
      this.lastShown = performance.now();
      if (progress.because !== FIRST) this.line(`${stage.padEnd(NAME)}again, because ${progress.because}`);
      else if (this.isTerminal) this.passing(`${stage.padEnd(NAME)}…`);
      return;
    }
    const { state, said, seconds } = progress;
    const how =
      state === 'skipped'
        ? 'skipped, nothing that it depends on has changed'
        : `done in ${duration(seconds)}`;
    this.line(`${stage.padEnd(NAME)}${said} (${how})`);
  }

  end(): void {
    if (this.isOpen) endLine();
    this.isOpen = false;
  }

  private working({ what, unit, done, total, secondsLeft }: Working): string {
    if (done === undefined || total === undefined) return what;
    if (this.piece?.what !== what) this.piece = { what, from: done, since: performance.now() };
    const passed = (performance.now() - this.piece.since) / 1000;
    const rate = (done - this.piece.from) / Math.max(0.001, passed);
    const left = secondsLeft ?? (rate > 0 ? (total - done) / rate : undefined);
    const numbers = `${what} ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
    return `${numbers}${unit === undefined ? '' : ` ${unit}`}${left === undefined ? '' : `, ${duration(left)} left`}`;
  }

  /** Prints a line that the next one overwrites on a terminal; elsewhere at most one every `EVERY_MS`. */
  private passing(text: string): void {
    if (this.isTerminal) {
      sayOver(text);
      this.isOpen = true;
    } else if (performance.now() - this.lastShown >= EVERY_MS) {
      this.lastShown = performance.now();
      say(text);
    }
  }

  private line(text: string): void {
    if (this.isOpen) sayInstead(text);
    else say(text);
    this.isOpen = false;
  }
}

/** Reason why a stage runs for the first time; it is not printed. */
const FIRST = 'it has not been done yet';
