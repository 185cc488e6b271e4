import type { TrajectoryLog } from '../trajectory/log';
import type { TrajectorySummary } from '../trajectory/trajectory';
import path from 'node:path';

export type TaskState =
  | { readonly kind: 'new' }
  | { readonly kind: 'draft'; readonly episode: string; readonly turns: number }
  | { readonly kind: 'skipped'; readonly episode: string; readonly reason?: string }
  /** It was finished or skipped, and a review asks for it to be played again. */
  | { readonly kind: 'redo'; readonly episode: string; readonly reason?: string }
  | { readonly kind: 'done'; readonly episode: string; readonly reward: number | null | undefined };

type DialogueOrigin = Pick<TrajectorySummary, 'pack' | 'player'>;

const PAGE = 1000;

/** Dialogues of collections do not count: no person played them. */
export class TaskProgress {
  /** The newest dialogue of each player and pack, by task; a dialogue may have neither. */
  private readonly newest = new Map<string, TrajectorySummary[]>();
  /**
   * Reason of each skipped dialogue, and of each that is to be redone. Only the log itself has it, so it is read for
   * shown tasks only.
   */
  private readonly reasons = new Map<string, string>();
  private log: TrajectoryLog | undefined;

  read(log: TrajectoryLog): void {
    this.log = log;
    this.newest.clear();
    for (let offset = 0; ; offset += PAGE) {
      const { rows, total } = log.list({ sort: 'oldest', offset, limit: PAGE });
      for (const row of rows) this.take(row);
      if (offset + PAGE >= total) return;
    }
  }

  /** Without ids, or when a dialogue is gone or has another player, everything is read again. */
  update(log: TrajectoryLog, episodes: readonly string[]): void {
    for (const id of episodes) this.reasons.delete(id);
    const summaries = episodes.map((id) => log.summary(id)).filter((summary) => summary !== undefined);
    const isSure = this.log === log && episodes.length > 0 && summaries.length === episodes.length;
    if (!isSure || summaries.some((summary) => this.hasOtherPlayer(summary))) this.read(log);
    else for (const summary of summaries) this.take(summary);
  }

  state(task: string, counts: (dialogue: DialogueOrigin) => boolean): TaskState {
    const newest = this.ofTask(task).filter(counts);
    return newest.length === 0 ? { kind: 'new' } : this.stateOf(newest.reduce(later));
  }

  /** By person; dialogues without a known player count for no one. */
  states(task: string, counts: (dialogue: DialogueOrigin) => boolean): Map<string, TaskState> {
    const byPlayer = Map.groupBy(this.ofTask(task).filter(counts), ({ player }) => player);
    const states = new Map<string, TaskState>();
    for (const [player, own] of byPlayer) {
      if (player !== undefined) states.set(player, this.stateOf(own.reduce(later)));
    }
    return states;
  }

  async readReasons(states: readonly TaskState[]): Promise<void> {
    const unread = states.flatMap((state) =>
      (state.kind === 'skipped' || state.kind === 'redo') && state.reason === undefined
        ? [state.episode]
        : [],
    );
    if (this.log === undefined || unread.length === 0) return;
    for await (const { id, abandoned, review } of this.log.trajectories(unread)) {
      const reason = review?.state === 'redo' ? review.reason : abandoned?.message;
      if (reason !== undefined) this.reasons.set(id, reason);
    }
  }

  private stateOf({ id: episode, state, turns, abandoned, grades, review }: TrajectorySummary): TaskState {
    const reason = this.reasons.get(episode);
    const isAnswered = state === 'answered';
    if (!isAnswered && abandoned !== 'skipped') return { kind: 'draft', episode, turns };
    if (review === 'redo') return { kind: 'redo', episode, ...(reason !== undefined && { reason }) };
    if (isAnswered) return { kind: 'done', episode, reward: (grades.fixed ?? grades.paper)?.reward };
    return { kind: 'skipped', episode, ...(reason !== undefined && { reason }) };
  }

  private ofTask(task: string): readonly TrajectorySummary[] {
    return this.newest.get(task) ?? [];
  }

  private hasOtherPlayer({ taskId, id, player }: TrajectorySummary): boolean {
    return this.ofTask(taskId).some((known) => known.id === id && known.player !== player);
  }

  private take(summary: TrajectorySummary): void {
    if (summary.collection !== undefined) return;
    const known = this.newest.get(summary.taskId) ?? [];
    this.newest.set(summary.taskId, known);
    const at = known.findIndex(({ pack, player }) => pack === summary.pack && player === summary.player);
    const before = known[at];
    if (before === undefined) known.push(summary);
    else known[at] = before.id === summary.id ? summary : later(before, summary);
  }
}

const later = (first: TrajectorySummary, second: TrajectorySummary): TrajectorySummary =>
  first.startedAt <= second.startedAt ? second : first;

interface Pack {
  readonly file: string;
  readonly tasks: readonly { readonly id: string }[];
}

/**
 * Packs that have a task of the same id: each gets the dialogues that were begun from it. The log has a pack's file
 * name, not its folder, so packs of one name in one log share the dialogues of such a task.
 */
export class SharedTaskIds {
  /** File names of the packs that share a task, by log, then by task. */
  private readonly names = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

  constructor(packs: readonly Pack[], logOf: (file: string) => string) {
    for (const [log, some] of Map.groupBy(packs, ({ file }) => logOf(file)))
      this.names.set(log, shared(some));
  }

  /**
   * Whether a dialogue about a task counts for this pack. One from no pack, or from a pack that is gone or renamed,
   * counts for each pack that has the task.
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
