import type { Figure } from './figureSchemas';
import { ratioInterval } from './paired';

/** Of a dialogue whose task has hidden decisions, or sums of such counts. */
export interface AskCounts {
  /** Decisions that were asked about. */
  readonly asked: number;
  readonly missed: number;
  /** Questions about no decision, or about one that was asked about before. */
  readonly useless: number;
}

interface AskFigures {
  /** With a bootstrap interval over tasks, from six on. */
  readonly f1: Figure;
  /** Null without a question. */
  readonly precision: number | null;
  readonly recall: number;
}

/**
 * Harmonic mean of precision and recall, as Ask-F1 of HiL-Bench (arXiv:2604.09408). A repeated question counts against
 * precision, else an agent that asks one thing again and again would look precise.
 * @param counts with at least one decision
 */
export const askF1 = ({ asked, missed, useless }: AskCounts): number =>
  (2 * asked) / (2 * asked + missed + useless);

/** Of the sums, so that a dialogue weighs by its decisions and questions; undefined without a dialogue. */
export function askFigures(
  dialogues: readonly (AskCounts & { readonly task: string })[],
): AskFigures | undefined {
  if (dialogues.length === 0) return undefined;
  const byTask = [...Map.groupBy(dialogues, ({ task }) => task).values()].map(sumOf);
  const all = sumOf(byTask);
  const interval = ratioInterval(
    byTask.map(({ asked }) => 2 * asked),
    byTask.map(({ asked, missed, useless }) => 2 * asked + missed + useless),
  );
  const questions = all.asked + all.useless;
  return {
    f1: { value: askF1(all), ...(interval && { interval }) },
    precision: questions === 0 ? null : all.asked / questions,
    recall: all.asked / (all.asked + all.missed),
  };
}

export function sumOf(counts: readonly AskCounts[]): AskCounts {
  const sum = (of: keyof AskCounts): number => counts.reduce((all, one) => all + one[of], 0);
  return { asked: sum('asked'), missed: sum('missed'), useless: sum('useless') };
}
