import { stripVTControlCharacters } from 'node:util';
import type { TrainerEvent } from '../core/training/events';
import type { Run, Runs } from '../core/training/runs';
import type { Outcome, Surroundings } from './command';
import { eventInWords, runInFull } from './runWords';

const STEP_EVERY_MS = 5000;

/**
 * Shows a run on stderr until it is over. Ctrl+C, like the death of this process, only stops the looking.
 * @param after events up to this time were shown before, ISO 8601
 */
export async function followRun(runs: Runs, id: string, to: Surroundings, after = ''): Promise<Outcome> {
  to.onInterrupt(`Detached: the run goes on. \`tandem runs ${id} --follow\` shows it again.`);
  const screen = new Screen();
  try {
    for await (const event of runs.follow(id, { signal: to.signal })) {
      if (event.at > after) screen.show(event);
    }
  } catch (error) {
    if (!to.signal.aborted) throw error;
  } finally {
    screen.end();
  }
  return toldOf(await runs.find(id), !to.signal.aborted);
}

/** @param isOver whether the run was followed to its end, so that its end is the command's */
export function toldOf(run: Run, isOver: boolean): Outcome {
  return {
    summary: run,
    print: () => stripVTControlCharacters(runInFull(run)),
    failed: isOver && ['failed', 'died', 'lost'].includes(run.state),
  };
}

/** Steps overwrite each other on a terminal, and are shown now and then elsewhere; all else stays. */
class Screen {
  private readonly isTerminal = process.stderr.isTTY;
  private isOverStep = false;
  private lastStep = 0;
  private pending: string | undefined;

  show(event: TrainerEvent): void {
    const words = eventInWords(event);
    if (words === undefined) return;
    // What a model or a file name says must not reach the terminal as a command.
    const line = stripVTControlCharacters(words);
    if (event.event === 'step' || event.event === 'progress') this.step(line);
    else this.line(line);
  }

  end(): void {
    this.flush();
    if (this.isOverStep) process.stderr.write('\n');
  }

  private step(line: string): void {
    if (this.isTerminal) {
      process.stderr.write(`${CLEAR_LINE}${line.slice(0, process.stderr.columns - 1)}`);
      this.isOverStep = true;
      return;
    }
    this.pending = line;
    if (performance.now() - this.lastStep >= STEP_EVERY_MS) this.flush();
  }

  private line(line: string): void {
    this.flush();
    process.stderr.write(this.isOverStep ? `${CLEAR_LINE}${line}\n` : `${line}\n`);
    this.isOverStep = false;
  }

  private flush(): void {
    if (this.pending === undefined) return;
    process.stderr.write(`${this.pending}\n`);
    this.pending = undefined;
    this.lastStep = performance.now();
  }
}

const CLEAR_LINE = '\r\u001b[K';
