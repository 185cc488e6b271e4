import type { TrajectoryFilter, TrajectoryLog } from '../log';
import type { TrajectorySummary } from '../trajectory';
import type { ExportedGrade } from './rows';

/** Which trajectories go into an export. */
export interface Selection {
  readonly filter?: TrajectoryFilter;
  /** Only dialogues that began then: not before `since`, before `until`. ISO 8601; a date is its midnight, UTC. */
  readonly since?: string;
  readonly until?: string;
  /** Whose rewards count; `fixed` when it is not given. */
  readonly mode?: 'fixed' | 'paper';
  readonly onlySuccess?: boolean;
  /** 0 to 1. */
  readonly minReward?: number;
  /** Also those in which a reply gave the reference away. */
  readonly withLeaked?: boolean;
  /** Also those that were played to evaluate an agent; training on them would spoil the next evaluation. */
  readonly withEvaluations?: boolean;
}

/** How the name of a collection begins that belongs to an evaluation. */
export const EVALUATION = 'evaluation';

/** Why trajectories are not in the export. */
export type LeftOutReason =
  | 'outside the filter'
  | 'not finished'
  | 'abandoned'
  | 'deleted'
  | 'played in an evaluation'
  | 'leaked'
  | 'not graded'
  | 'not a success'
  | 'below the minimum reward'
  | 'damaged'
  | 'no consent'
  | 'model terms'
  | 'without a better or worse trajectory of the same task'
  | 'without a choice between candidates'
  | 'choices of candidates that are equal'
  | 'choices of neither candidate'
  | 'paired only with trajectories of other prompts';

export type LeftOut = Partial<Record<LeftOutReason, number>>;

export interface Selected {
  readonly summary: TrajectorySummary;
  readonly grade: ExportedGrade | undefined;
}

export interface SelectedTrajectories {
  /** From the oldest to the newest. */
  readonly selected: readonly Selected[];
  readonly leftOut: LeftOut;
}

/** @param needsReward whether a row of the export says a reward */
export function select(log: TrajectoryLog, selection: Selection, needsReward: boolean): SelectedTrajectories {
  const { filter = {}, mode = 'fixed' } = selection;
  const { rows } = log.list({ filter, sort: 'oldest', offset: 0, limit: Number.POSITIVE_INFINITY });
  const leftOut: LeftOut = {};
  const selected: Selected[] = [];
  // Deleted ones are in no list; which of them the filter would have left is not known any more.
  if (log.deletedCount > 0) leftOut.deleted = log.deletedCount;
  const inside = rows.filter(({ startedAt }) => isWithin(startedAt, selection));
  const outside = log.count().total - inside.length;
  if (outside > 0) leftOut['outside the filter'] = outside;
  for (const summary of inside) {
    const grade = gradeOf(summary, mode);
    const reason = whyNot(summary, grade, selection, needsReward);
    if (reason === undefined) selected.push({ summary, grade });
    else countUp(leftOut, reason);
  }
  return { selected, leftOut };
}

function isWithin(startedAt: string, { since, until }: Selection): boolean {
  const at = Date.parse(startedAt);
  return (since === undefined || at >= Date.parse(since)) && (until === undefined || at < Date.parse(until));
}

export function countUp(leftOut: LeftOut, reason: LeftOutReason, by = 1): void {
  leftOut[reason] = (leftOut[reason] ?? 0) + by;
}

function gradeOf(summary: TrajectorySummary, mode: 'fixed' | 'paper'): ExportedGrade | undefined {
  const grade = summary.grades[mode];
  if (grade?.reward == null || grade.success === null) return undefined;
  return { mode, reward: grade.reward, success: grade.success };
}

function whyNot(
  { state, leaked, collection }: TrajectorySummary,
  grade: ExportedGrade | undefined,
  { onlySuccess = false, minReward, withLeaked = false, withEvaluations = false }: Selection,
  needsReward: boolean,
): LeftOutReason | undefined {
  if (state === 'open') return 'not finished';
  if (state === 'abandoned') return 'abandoned';
  if (collection?.startsWith(EVALUATION) && !withEvaluations) return 'played in an evaluation';
  if (leaked && !withLeaked) return 'leaked';
  if (!grade) return needsReward || onlySuccess || minReward !== undefined ? 'not graded' : undefined;
  if (onlySuccess && !grade.success) return 'not a success';
  return minReward !== undefined && grade.reward < minReward ? 'below the minimum reward' : undefined;
}
