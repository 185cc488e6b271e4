import { setImmediate as yielding } from 'node:timers/promises';
import path from 'node:path';
import { EventTail } from '../training/eventFile';
import { RunHistory } from '../training/history/history';
import { runFiles } from '../training/runFolder';
import type { Run, Runs } from '../training/runs';
import { configurationOf } from './configurations';
import { keptOf, type Kept } from '../loop/kept';

/** Events after which whoever else works in this process gets a turn. */
const PIECE = 1000;

/** A run with all that its folder tells of it. */
export interface RunRecord {
  readonly run: Run;
  readonly history: RunHistory;
  readonly configuration: unknown;
  readonly kept: readonly Kept[];
}

/** Reads a run of an experiment, again and again: each time only the events that are new. */
export class RunReader {
  private readonly history = new RunHistory();
  private readonly tail: EventTail;

  constructor(
    private readonly runs: Runs,
    readonly id: string,
  ) {
    this.tail = new EventTail(path.join(runs.folder, id, runFiles.events));
  }

  /** Undefined when the run is gone. */
  async read(): Promise<RunRecord | undefined> {
    // Before the events: whatever the process wrote until it ended is then among them.
    const run = await this.runs.read(this.id);
    if (run === undefined) return undefined;
    let count = 0;
    for await (const event of this.tail.read()) {
      this.history.add(event);
      count += 1;
      if (count % PIECE === 0) await yielding();
    }
    const [configuration, kept] = await Promise.all([configurationOf(run), keptOf(run.folder)]);
    return { run, history: this.history, configuration, kept };
  }

  close(): Promise<void> {
    return this.tail.close();
  }
}
