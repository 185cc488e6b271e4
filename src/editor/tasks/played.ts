import * as vscode from 'vscode';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import type { Pack, ListedTask } from './pack';
import type { Packs } from './packs';
import { SharedTaskIds, TaskProgress, type TaskState } from './progress';

/** The person's progress with the tasks of each pack; each folder of the workspace logs its own. */
export class PlayedTasks implements vscode.Disposable {
  private readonly progress = new Map<Engine, TaskProgress>();
  private rivals: { readonly packs: readonly Pack[]; readonly found: SharedTaskIds } | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly registration: vscode.Disposable;

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engines: Engines,
    private readonly packs: Packs,
  ) {
    this.registration = engines.onDidChangeLog(
      ({ engine, episodes }) =>
        void this.follow(engine, episodes).catch((error: unknown) => engine.show(error)),
    );
  }

  /** Reads what has not been read yet. Before that `state` knows nothing. */
  async read(): Promise<void> {
    const [packs] = await Promise.all([
      this.packs.all(),
      ...this.engines.all.map((engine) => this.readOne(engine)),
    ]);
    if (this.rivals?.packs === packs) return;
    this.rivals = { packs, found: new SharedTaskIds(packs, (file) => this.engines.of(file).dataFolder) };
  }

  state({ pack, id }: Pick<ListedTask, 'pack' | 'id'>): TaskState {
    const engine = this.engines.of(pack);
    const place = { log: engine.dataFolder, pack, task: id };
    const counts = (from: string | undefined): boolean => this.rivals?.found.counts(from, place) ?? true;
    return this.progress.get(engine)?.state(id, counts) ?? { kind: 'new' };
  }

  /** Reads why these tasks were skipped, so that `state` includes the reasons. */
  async readReasons(tasks: readonly ListedTask[]): Promise<void> {
    const byEngine = Map.groupBy(tasks, ({ pack }) => this.engines.of(pack));
    for (const [engine, some] of byEngine) {
      try {
        await this.progress.get(engine)?.readReasons(some.map((task) => this.state(task)));
      } catch (error) {
        // An unreadable dialogue must not hide the list: the row says "skipped", and the output channel says why.
        engine.report(error);
      }
    }
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }

  private async readOne(engine: Engine): Promise<void> {
    if (this.progress.has(engine)) return;
    try {
      const log = await engine.logIfAny();
      if (this.progress.has(engine)) return;
      const progress = new TaskProgress();
      if (log !== undefined) progress.read(log);
      this.progress.set(engine, progress);
    } catch (error) {
      // The packs are shown all the same; without the log every task looks new, so the person is told.
      engine.show(error);
    }
  }

  private async follow(engine: Engine, episodes: readonly string[]): Promise<void> {
    const log = await engine.logIfAny();
    if (log === undefined) return;
    const progress = this.progress.get(engine) ?? new TaskProgress();
    this.progress.set(engine, progress);
    progress.update(log, episodes);
    this.changed.fire();
  }
}
