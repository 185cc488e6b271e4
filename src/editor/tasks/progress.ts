import type { TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';

/** How far the newest dialogue about a task has come. */
export type TaskState =
  | { readonly kind: 'new' }
  | { readonly kind: 'draft'; readonly episode: string; readonly turns: number }
  | { readonly kind: 'skipped'; readonly episode: string }
  | { readonly kind: 'done'; readonly episode: string; readonly reward: number | null | undefined };

const PAGE = 1000;

/**
 * What was played here of each task. Dialogues that a collection made in bulk do not count: they say nothing of what
 * the person has done.
 */
export class Progress {
  private readonly newest = new Map<string, TrajectorySummary>();
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
    return abandoned === 'skipped' ? { kind: 'skipped', episode } : { kind: 'draft', episode, turns };
  }

  private take(summary: TrajectorySummary): void {
    if (summary.collection !== undefined) return;
    const known = this.newest.get(summary.taskId);
    if (known === undefined || known.id === summary.id || known.startedAt <= summary.startedAt) {
      this.newest.set(summary.taskId, summary);
    }
  }
}

/** `12 done · 1 draft`, or nothing while nothing was played. */
export function counted(states: readonly TaskState[]): string {
  const parts = (['done', 'draft', 'skipped'] as const).map((kind) => {
    const count = states.filter((state) => state.kind === kind).length;
    return count === 0 ? undefined : `${count} ${kind}`;
  });
  return parts.filter((part) => part !== undefined).join(' · ');
}

/** What stands behind a task's title. */
export function stateWords(state: TaskState, tests: number): string {
  switch (state.kind) {
    case 'new':
      return '';
    case 'draft':
      if (state.turns === 0) return 'draft';
      return `draft, ${state.turns} ${state.turns === 1 ? 'turn' : 'turns'}`;
    case 'skipped':
      return 'skipped';
    case 'done':
      if (state.reward === undefined) return 'not graded yet';
      if (state.reward === null) return 'not gradable here';
      return `${Math.round(state.reward * tests)}/${tests} tests`;
  }
}
