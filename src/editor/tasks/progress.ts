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
  /** By the task, the newest dialogue from each pack that the log names; in the key undefined: from none. */
  private readonly newest = new Map<string, Map<string | undefined, TrajectorySummary>>();
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

  /** @param counts whether a dialogue is looked at that was begun from the pack of this file name, or from none */
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

  /** Reads why these dialogues were skipped, those that were. */
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

/** Of two that began at once the second. */
const later = (first: TrajectorySummary, second: TrajectorySummary): TrajectorySummary =>
  first.startedAt <= second.startedAt ? second : first;

function latest(summaries: readonly TrajectorySummary[]): TrajectorySummary | undefined {
  return summaries.length === 0 ? undefined : summaries.reduce(later);
}
