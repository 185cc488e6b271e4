import type { GradingMode } from '../../grading/grade';
import type { Trajectory } from '../../trajectory/trajectory';
import { average, wilson, type Interval } from '../interval';
import { pairedDifference } from '../paired';
import type { PairedDifference } from '../figureSchemas';
import { byScale, type ScoredDialogue, keyOf, type PageScale } from './pageFigures';

/** Two agents on the tasks that both were scored on by one scale. */
export interface PairedPages extends PageScale {
  /** Second − first, of the tasks' mean scores. */
  readonly score: PairedDifference;
  readonly winRate: WinRate;
}

interface WinRate {
  /** Share of pairs of dialogues in which the second scores higher, ties half, averaged per task first. */
  readonly rate: number;
  /** 95 % Wilson interval over tasks. */
  readonly interval: Interval;
  readonly tasks: number;
  /** Tasks on which neither won more often. */
  readonly ties: number;
}

/** One entry for each scale that both agents have tasks of. @param seed of the resampling */
export function pairedPages(
  before: readonly Trajectory[],
  after: readonly Trajectory[],
  mode: GradingMode,
  seed: number,
): PairedPages[] {
  const known = new Map(byScale(before, mode).map(({ scale, dialogues }) => [keyOf(scale), dialogues]));
  return byScale(after, mode).flatMap(({ scale, dialogues }) => {
    const [first, second] = [scoresByTask(known.get(keyOf(scale)) ?? []), scoresByTask(dialogues)];
    const both = [...second].flatMap(([task, scores]) => {
      const others = first.get(task);
      return others === undefined ? [] : [{ first: others, second: scores }];
    });
    if (both.length === 0) return [];
    const score = pairedDifference(
      both.map((task) => average(task.first)),
      both.map((task) => average(task.second)),
      seed,
    );
    return [{ ...scale, score, winRate: winRateOf(both) }];
  });
}

/** @param tasks scores of the dialogues of each task, at least one of each agent */
export function winRateOf(
  tasks: readonly { readonly first: readonly number[]; readonly second: readonly number[] }[],
): WinRate {
  const shares = tasks.map(({ first, second }) =>
    average(first.flatMap((a) => second.map((b) => (Math.abs(a - b) < EQUAL ? 0.5 : Number(b > a))))),
  );
  const rate = average(shares);
  return {
    ...{ rate, interval: wilson(rate, tasks.length), tasks: tasks.length },
    ties: shares.filter((share) => share === 0.5).length,
  };
}

/** Two drawings of one page differ by rounding at most. */
const EQUAL = 1e-9;

function scoresByTask(dialogues: readonly ScoredDialogue[]): Map<string, number[]> {
  const byTask = Map.groupBy(dialogues, ({ task }) => task);
  return new Map([...byTask].map(([task, ofTask]) => [task, ofTask.map(({ page }) => page.score)]));
}
