import path from 'node:path';
import * as vscode from 'vscode';
import { PackAssignment } from '../../core/dialogue/packAssignment';
import { SharedTaskIds, TaskProgress, type TaskState } from '../../core/dialogue/taskProgress';
import type { Part } from '../../core/trajectory/assignments';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import type { Pack, ListedTask, Packs } from '../packs';
import { Owner } from '../background';

interface PlayedIn {
  readonly progress: TaskProgress;
  /** The parts that people have of each assigned pack, by the pack's file name. */
  assigned: ReadonlyMap<string, readonly Part[]>;
}

class PlayedPack {
  /** Kept, because a long list asks for it more than once each time it is drawn. */
  private dealt:
    { readonly tasks: readonly ListedTask[]; readonly assignment: PackAssignment<ListedTask> } | undefined;

  constructor(
    readonly person: string | undefined,
    private readonly progress: TaskProgress,
    private readonly parts: readonly Part[],
    /** Whether dialogues about a task that were begun from a pack of this file name, or from none, count. */
    private readonly counts: (from: string | undefined, task: string) => boolean,
  ) {}

  /**
   * The state for the person; before a consent, by what all have played. Dialogues without a known player, such as
   * imported ones, count for everyone, unless the pack is assigned: then each person plays their part.
   */
  state(task: string): TaskState {
    const { person, progress, parts, counts } = this;
    return progress.state(task, ({ pack, player }) => {
      const isOwn = person === undefined || player === person || (player === undefined && parts.length === 0);
      return isOwn && counts(pack, task);
    });
  }

  statesOfOthers(task: string): ReadonlyMap<string, TaskState> {
    const states = this.statesOfAll(task);
    if (this.person !== undefined) states.delete(this.person);
    return states;
  }

  assignment(tasks: readonly ListedTask[]): PackAssignment<ListedTask> | undefined {
    const [first, ...others] = this.parts;
    if (first === undefined) return undefined;
    if (this.dealt?.tasks !== tasks) {
      const assignment = new PackAssignment(tasks, [first, ...others], (id) => this.statesOfAll(id));
      this.dealt = { tasks, assignment };
    }
    return this.dealt.assignment;
  }

  part(tasks: readonly ListedTask[]): readonly ListedTask[] | undefined {
    const { person } = this;
    return person === undefined ? undefined : this.assignment(tasks)?.partOf(person);
  }

  private statesOfAll(task: string): Map<string, TaskState> {
    return this.progress.states(task, ({ pack }) => this.counts(pack, task));
  }
}

/** The progress of the person at this window, and of the others. Without a pseudonym, a person sees that of all. */
export class PlayedTasks extends Owner {
  private readonly logs = new Map<Engine, PlayedIn>();
  private readonly known = new Map<string, PlayedPack>();
  private rivals: { readonly packs: readonly Pack[]; readonly found: SharedTaskIds } | undefined;
  private readonly changed = new vscode.EventEmitter<void>();

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engines: Engines,
    private readonly packs: Packs,
  ) {
    super();
    this.owns(
      this.changed,
      engines.onDidChangeLog(
        ({ engine, episodes }) =>
          void this.follow(engine, episodes).catch((error: unknown) => engine.show(error)),
      ),
    );
  }

  /** Reads what has not been read yet. Before that `state` knows nothing. */
  async read(): Promise<void> {
    const [packs] = await Promise.all([
      this.packs.all(),
      ...this.engines.all.map((engine) => this.readOne(engine)),
    ]);
    if (this.rivals?.packs === packs) return;
    this.known.clear();
    this.rivals = { packs, found: new SharedTaskIds(packs, (file) => this.engines.of(file).dataFolder) };
  }

  of(pack: string): PlayedPack {
    const engine = this.engines.of(pack);
    const person = engine.consent.given?.pseudonym;
    const known = this.known.get(pack);
    if (known !== undefined && known.person === person) return known;
    const { progress, assigned } = this.logs.get(engine) ?? {};
    const played = new PlayedPack(
      person,
      progress ?? new TaskProgress(),
      assigned?.get(path.basename(pack)) ?? [],
      (from, task) => this.rivals?.found.counts(from, { log: engine.dataFolder, pack, task }) ?? true,
    );
    this.known.set(pack, played);
    return played;
  }

  state({ pack, id }: Pick<ListedTask, 'pack' | 'id'>): TaskState {
    return this.of(pack).state(id);
  }

  /** Reads why these tasks were skipped or are to be redone, so that `state` includes the reasons. */
  async readReasons(tasks: readonly ListedTask[]): Promise<void> {
    const byEngine = Map.groupBy(tasks, ({ pack }) => this.engines.of(pack));
    for (const [engine, some] of byEngine) {
      try {
        await this.logs.get(engine)?.progress.readReasons(some.map((task) => this.state(task)));
      } catch (error) {
        // An unreadable dialogue must not hide the list: the row says "skipped", and the output channel says why.
        engine.report(error);
      }
    }
  }

  private async readOne(engine: Engine): Promise<void> {
    if (this.logs.has(engine)) return;
    try {
      const log = await engine.logIfAny();
      if (this.logs.has(engine)) return;
      const progress = new TaskProgress();
      if (log !== undefined) progress.read(log);
      this.known.clear();
      this.logs.set(engine, { progress, assigned: log?.assigned ?? new Map<string, readonly Part[]>() });
    } catch (error) {
      // The packs are shown all the same; without the log every task looks new, so the person is told.
      engine.show(error);
    }
  }

  private async follow(engine: Engine, episodes: readonly string[]): Promise<void> {
    const log = await engine.logIfAny();
    if (log === undefined) return;
    const inLog = this.logs.get(engine) ?? { progress: new TaskProgress(), assigned: log.assigned };
    inLog.progress.update(log, episodes);
    inLog.assigned = log.assigned;
    this.logs.set(engine, inLog);
    this.known.clear();
    this.changed.fire();
  }
}
