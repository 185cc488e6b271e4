import type { TrainerEvent } from '../core/training/events';
import type { Run, Runs } from '../core/training/runs';
import type { CommandResult, CliContext } from './command';
import { eventInWords, runInFull } from './runWords';
import { endLine, say, sayInstead, sayOver } from './output';

const STEP_INTERVAL_MS = 5000;

/**
 * Prints on stderr until the run is over. The run itself survives Ctrl+C and the death of this process.
 * @param after time up to which events were shown before, ISO 8601
 */
export async function followRun(runs: Runs, id: string, to: CliContext, after = ''): Promise<CommandResult> {
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

/** @param isOver true if the run was followed to its end; the command then fails if the run did */
export function toldOf(run: Run, isOver: boolean): CommandResult {
  return {
    summary: run,
    print: () => runInFull(run),
    failed: isOver && ['failed', 'lost'].includes(run.state),
  };
}

/** On a terminal steps overwrite each other; elsewhere one is printed every `STEP_INTERVAL_MS`. */
class Screen {
  private readonly isTerminal = process.stderr.isTTY;
  private isOverStep = false;
  private lastStep = 0;
  private pending: string | undefined;

  show(event: TrainerEvent): void {
    const line = eventInWords(event);
    if (line === undefined) return;
    if (event.event === 'step' || event.event === 'progress') this.step(line);
    else this.line(line);
  }

  end(): void {
    this.flush();
    if (this.isOverStep) endLine();
  }

  private step(line: string): void {
    if (this.isTerminal) {
      sayOver(line);
      this.isOverStep = true;
      return;
    }
    this.pending = line;
    if (performance.now() - this.lastStep >= STEP_INTERVAL_MS) this.flush();
  }

  private line(line: string): void {
    this.flush();
    if (this.isOverStep) sayInstead(line);
    else say(line);
    this.isOverStep = false;
  }

  private flush(): void {
    if (this.pending === undefined) return;
    say(this.pending);
    this.pending = undefined;
    this.lastStep = performance.now();
  }
}
