import type { LoopProgress } from '../core/loop/plan';
import { duration } from './terminal';
import { endLine, say, sayInstead, sayOver } from './output';

type Working = Extract<LoopProgress, { state: 'working' }>;

const EVERY_MS = 10_000;
/** So long is the longest name of a stage, and a space. */
const NAME = 10;

/** A line for each stage on stderr: how far it is and how long it takes, then what came of it. */
export class StageLines {
  private readonly isTerminal = process.stderr.isTTY;
  private lastShown = 0;
  private isOpen = false;
  /** Of the piece of work that goes on: where and when it was first seen. */
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

  /** Overwritten by what comes next on a terminal; elsewhere shown now and then. */
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

/** The reason of a stage's first time, which goes without saying. */
const FIRST = 'it has not been done yet';
