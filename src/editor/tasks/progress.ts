import type { TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';

/** How far the newest dialogue about a task has come. */
export type TaskState =
  | { readonly kind: 'new' }
  | { readonly kind: 'draft'; readonly episode: string; readonly turns: number }
  | { readonly kind: 'skipped'; readonly episode: string; readonly reason?: string }
  | { readonly kind: 'done'; readonly episode: string; readonly reward: number | null | undefined };

const PAGE = 1000;

/**
 * What was played of each task in one log. Dialogues that a collection made in bulk do not count: they say nothing of
 * what the person has done.
 */
export class Progress {
  private readonly newest = new Map<string, TrajectorySummary>();
  /** Why an episode was skipped: only the log itself says it, so it is read for what is shown. */
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

  /** Takes in the dialogues that changed; with none, or when one is gone, everything is read anew. */
  update(log: TrajectoryLog, episodes: readonly string[]): void {
    for (const id of episodes) this.reasons.delete(id);
    const summaries = episodes.map((id) => log.summary(id));
    if (this.log !== log || summaries.length === 0 || summaries.includes(undefined)) this.read(log);
    else for (const summary of summaries) if (summary) this.take(summary);
  }

  state(task: string): TaskState {
    const newest = this.newest.get(task);
    if (newest === undefined) return { kind: 'new' };
    const { id: episode, state, turns, abandoned, grades } = newest;
    if (state === 'answered') {
      return { kind: 'done', episode, reward: (grades.fixed ?? grades.paper)?.reward };
    }
    if (abandoned !== 'skipped') return { kind: 'draft', episode, turns };
    const reason = this.reasons.get(episode);
    return { kind: 'skipped', episode, ...(reason === undefined ? {} : { reason }) };
  }

  /** Reads why these tasks were skipped, those that were. */
  async readReasons(tasks: readonly string[]): Promise<void> {
    const unread = tasks.flatMap((task) => {
      const state = this.state(task);
      return state.kind === 'skipped' && state.reason === undefined ? [state.episode] : [];
    });
    if (this.log === undefined || unread.length === 0) return;
    for await (const { id, abandoned } of this.log.trajectories(unread)) {
      if (abandoned !== undefined) this.reasons.set(id, abandoned.message);
    }
  }

  private take(summary: TrajectorySummary): void {
    if (summary.collection !== undefined) return;
    const known = this.newest.get(summary.taskId);
    if (known === undefined || known.id === summary.id || known.startedAt <= summary.startedAt) {
      this.newest.set(summary.taskId, summary);
    }
  }
}
