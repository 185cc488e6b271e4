import type { Episodes } from './episodes';
import { matching, successOf, type TrajectoryFilter } from './query';

/** What statistics need of a trajectory: a fraction of its summary, because they look at every one. */
export interface Outline {
  readonly task: string;
  readonly agent: string;
  readonly pack?: string;
  /** The name of who sits in the seat at the end. */
  readonly collaborator: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly isAnswered: boolean;
  readonly turns: number;
  /** Null when it is not graded, or not gradable here. */
  readonly success: boolean | null;
  readonly leaked: boolean;
  /** A developer's mean time for a reply, in milliseconds; absent when no such time is known. */
  readonly replyMs?: number;
}

/** Of all episodes that the filter leaves, in the order of `order`. */
export function outlines(episodes: Episodes, order: Uint32Array, filter: TrajectoryFilter): Outline[] {
  const { columns, strings } = episodes;
  return Array.from(matching(episodes, order, filter), (row) => {
    const pack = columns.pack.get(row);
    const replies = columns.timedReplies.get(row);
    return {
      task: strings.text(columns.task.get(row)),
      agent: strings.text(columns.agent.get(row)),
      ...(pack >= 0 && { pack: strings.text(pack) }),
      collaborator: strings.text(columns.collaborator.get(row)),
      startedAt: columns.startedAt.get(row),
      isAnswered: episodes.isAnswered(row),
      turns: columns.turns.get(row),
      success: successOf(episodes, row, filter.mode),
      leaked: episodes.isLeaked(row),
      ...(replies > 0 && { replyMs: columns.replyMs.get(row) / replies }),
    };
  });
}
