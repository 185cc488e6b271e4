import path from 'node:path';
import { EventTail } from '../../training/eventFile';
import { RunHistory } from '../../training/history/history';
import { runFiles } from '../../training/runFolder';
import type { Run, Runs } from '../../training/runs';
import { configurationOf } from './configurations';
import { keptOf, type KeptEvaluation } from '../loop/evaluationCache';

export interface RunRecord {
  readonly run: Run;
  readonly history: RunHistory;
  readonly configuration: unknown;
  readonly kept: readonly KeptEvaluation[];
}

/** Each call reads only the new events. */
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
    // The run is read before the events, so that these include whatever its process wrote until it ended.
    const run = await this.runs.read(this.id);
    if (run === undefined) return undefined;
    await this.history.read(this.tail);
    const [configuration, kept] = await Promise.all([configurationOf(run), keptOf(run.folder)]);
    return { run, history: this.history, configuration, kept };
  }

  close(): Promise<void> {
    return this.tail.close();
  }
}
