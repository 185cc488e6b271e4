import path from 'node:path';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import type { Pack } from './pack';

/** State of the newest dialogue about a task. */
export type TaskState =
  | { readonly kind: 'new' }
  | { readonly kind: 'draft'; readonly episode: string; readonly turns: number }
  | { readonly kind: 'skipped'; readonly episode: string; readonly reason?: string }
  | { readonly kind: 'done'; readonly episode: string; readonly reward: number | null | undefined };

const PAGE = 1000;

/**
 * The person's progress with each task in one log. Dialogues of collections do not count: a person did not play them.
 */
export class TaskProgress {
  /** The newest dialogue by task, then by the pack that the log names; undefined stands for no pack. */
  private readonly newest = new Map<string, Map<string | undefined, TrajectorySummary>>();
  /** Reason of each skipped dialogue. Only the log itself has it, so it is read for shown tasks only. */
  private readonly reasons = new Map<string, string>();
  private log: TrajectoryLog | undefined;

  /** Reads the whole list; afterwards `update` is enough. */
  read(log: TrajectoryLog): void {
    this.log = log;
    this.newest.clear();
    for (let offset = 0; ; offset += PAGE) {
      const { rows, total } = log.list({ sort: 'oldest', offset, limit: PAGE });
      for (const row of rows) this.take(row);
      if (offset + PAGE >= total) return;
    }
  }

  /** Reads the dialogues that changed; without ids, or when one is gone, everything is read again. */
  update(log: TrajectoryLog, episodes: readonly string[]): void {
    for (const id of episodes) this.reasons.delete(id);
    const summaries = episodes.map((id) => log.summary(id));
    if (this.log !== log || summaries.length === 0 || summaries.includes(undefined)) this.read(log);
    else for (const summary of summaries) if (summary) this.take(summary);
  }

  /** @param counts returns whether dialogues count that were begun from the pack of this file name, or from none */
  state(task: string, counts: (pack: string | undefined) => boolean): TaskState {
    const newest = latest([...(this.newest.get(task)?.values() ?? [])].filter(({ pack }) => counts(pack)));
    if (newest === undefined) return { kind: 'new' };
    const { id: episode, state, turns, abandoned, grades } = newest;
    if (state === 'answered') {
      return { kind: 'done', episode, reward: (grades.fixed ?? grades.paper)?.reward };
    }
    if (abandoned !== 'skipped') return { kind: 'draft', episode, turns };
    const reason = this.reasons.get(episode);
    return { kind: 'skipped', episode, ...(reason === undefined ? {} : { reason }) };
  }

  /** Reads the reasons of the skipped ones among these dialogues. */
  async readReasons(states: readonly TaskState[]): Promise<void> {
    const unread = states.flatMap((state) =>
      state.kind === 'skipped' && state.reason === undefined ? [state.episode] : [],
    );
    if (this.log === undefined || unread.length === 0) return;
    for await (const { id, abandoned } of this.log.trajectories(unread)) {
      if (abandoned !== undefined) this.reasons.set(id, abandoned.message);
    }
  }

  private take(summary: TrajectorySummary): void {
    if (summary.collection !== undefined) return;
    const ofTask = this.newest.get(summary.taskId) ?? new Map<string | undefined, TrajectorySummary>();
    this.newest.set(summary.taskId, ofTask);
    const known = ofTask.get(summary.pack);
    ofTask.set(
      summary.pack,
      known === undefined || known.id === summary.id ? summary : later(known, summary),
    );
  }
}

/** Returns the later of two dialogues; the second of two that began at once. */
const later = (first: TrajectorySummary, second: TrajectorySummary): TrajectorySummary =>
  first.startedAt <= second.startedAt ? second : first;

function latest(summaries: readonly TrajectorySummary[]): TrajectorySummary | undefined {
  return summaries.length === 0 ? undefined : summaries.reduce(later);
}

/**
 * Returns the first unfinished task, drafts included: after a given task first, then from the beginning. Skipped tasks
 * are left out.
 */
export function nextUnfinished<T extends { readonly id: string }>(
  tasks: readonly T[],
  after: string | undefined,
  state: (task: T) => TaskState,
): T | undefined {
  const start = tasks.findIndex(({ id }) => id === after) + 1;
  const inOrder = [...tasks.slice(start), ...tasks.slice(0, start)];
  return inOrder.find((task) => task.id !== after && ['new', 'draft'].includes(state(task).kind));
}

/**
 * Tells which packs have a task of the same id, so that each gets the dialogues that were begun from it. The log has a
 * pack's file name, not its folder: packs of one name that log into the same place share the dialogues of such a task.
 */
export class SharedTaskIds {
  /** File names of the packs that share a task, by log, then by task. */
  private readonly names = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

  /** @param logOf returns the data folder that logs the dialogues about a pack's tasks */
  constructor(packs: readonly Pack[], logOf: (file: string) => string) {
    for (const [log, some] of Map.groupBy(packs, ({ file }) => logOf(file)))
      this.names.set(log, shared(some));
  }

  /**
   * Returns whether a dialogue about a task counts for this pack. A dialogue that was begun from no pack counts for
   * each pack that has the task, and so does one from a pack that is gone or renamed.
   * @param from file name of the pack that it was begun from, as the log has it
   */
  counts(
    from: string | undefined,
    { log, pack, task }: { log: string; pack: string; task: string },
  ): boolean {
    const names = this.names.get(log)?.get(task);
    return from === undefined || from === path.basename(pack) || names?.has(from) !== true;
  }
}

function shared(packs: readonly Pack[]): Map<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  // Nearly every task is in one pack only, and needs no set.
  const first = new Map<string, string>();
  for (const { file, tasks } of packs) {
    const name = path.basename(file);
    for (const { id } of tasks) {
      const known = first.get(id);
      if (known === undefined) first.set(id, name);
      else names.set(id, (names.get(id) ?? new Set([known])).add(name));
    }
  }
  return names;
}
