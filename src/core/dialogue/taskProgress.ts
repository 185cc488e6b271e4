import type { TrajectoryLog } from '../trajectory/log';
import type { TrajectorySummary } from '../trajectory/trajectory';

/** State of the newest dialogue about a task. */
export type TaskState =
  | { readonly kind: 'new' }
  | { readonly kind: 'draft'; readonly episode: string; readonly turns: number }
  | { readonly kind: 'skipped'; readonly episode: string; readonly reason?: string }
  /** It was finished or skipped, and a review asks for it to be played again. */
  | { readonly kind: 'redo'; readonly episode: string; readonly reason?: string }
  | { readonly kind: 'done'; readonly episode: string; readonly reward: number | null | undefined };

/** The pack that a dialogue was begun from and the person who played it decide whether it counts. */
type DialogueOrigin = Pick<TrajectorySummary, 'pack' | 'player'>;

const PAGE = 1000;

/**
 * People's progress with each task in one log. Dialogues of collections do not count: a person did not play them.
 */
export class TaskProgress {
  /** The newest dialogue of each player and pack, by task; a dialogue may have neither. */
  private readonly newest = new Map<string, TrajectorySummary[]>();
  /**
   * Reason of each skipped dialogue, and of each that is to be redone. Only the log itself has it, so it is read for
   * shown tasks only.
   */
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

  /** Reads the dialogues that changed; without ids, or when one is gone or has another player, everything is read again. */
  update(log: TrajectoryLog, episodes: readonly string[]): void {
    for (const id of episodes) this.reasons.delete(id);
    const summaries = episodes.map((id) => log.summary(id)).filter((summary) => summary !== undefined);
    const isSure = this.log === log && episodes.length > 0 && summaries.length === episodes.length;
    if (!isSure || summaries.some((summary) => this.hasOtherPlayer(summary))) this.read(log);
    else for (const summary of summaries) this.take(summary);
  }

  /** Returns the state of a task by the newest dialogue that counts. */
  state(task: string, counts: (dialogue: DialogueOrigin) => boolean): TaskState {
    const newest = this.ofTask(task).filter(counts);
    return newest.length === 0 ? { kind: 'new' } : this.stateOf(newest.reduce(later));
  }

  /** Returns the state of a task for each person who played it; dialogues without a known player are nobody's. */
  states(task: string, counts: (dialogue: DialogueOrigin) => boolean): Map<string, TaskState> {
    const byPlayer = Map.groupBy(this.ofTask(task).filter(counts), ({ player }) => player);
    const states = new Map<string, TaskState>();
    for (const [player, own] of byPlayer) {
      if (player !== undefined) states.set(player, this.stateOf(own.reduce(later)));
    }
    return states;
  }

  /** Reads the reasons of those of these dialogues that were skipped or are to be redone. */
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

/** Returns the later of two dialogues; the second of two that began at once. */
const later = (first: TrajectorySummary, second: TrajectorySummary): TrajectorySummary =>
  first.startedAt <= second.startedAt ? second : first;
