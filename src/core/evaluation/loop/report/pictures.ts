import type { AgentFigures } from '../../figureSchemas';
import type { Estimate } from '../../interval';
import { percent } from '../../words';
import type { TrainedComparison, TrainedComparisons } from '../comparison';
import { barPicture, type Bar, type BarSeries } from '../../pictures/chart';

export const PICTURES = 'pictures';

const SIDES = ['before', 'after'] as const;

export function successPicture({ sampled, greedy }: TrainedComparisons): string {
  const bar = (estimate: Estimate | null): Bar | null =>
    estimate && { value: estimate.mean, interval: estimate.interval };
  return barPicture({
    title: 'Success on held-out tasks',
    subtitle: `${sampled.success.tasks} held-out tasks; the lines are 95 % intervals`,
    categories: ['sampled', 'greedy'],
    series: SIDES.map((name) => ({
      name,
      bars: [sampled, greedy].map((comparison) => bar(comparison[name].success)),
    })),
    format: percent,
  });
}

export const HABITS: readonly {
  readonly name: string;
  readonly of: (figures: AgentFigures) => number | null;
}[] = [
  { name: 'turns', of: ({ meanTurns }) => meanTurns },
  { name: 'missed decisions', of: ({ missedDecisions }) => missedDecisions },
  { name: 'useless questions', of: ({ uselessQuestions }) => uselessQuestions },
];

const QUESTIONS_LOST: (typeof HABITS)[number] = {
  name: 'questions lost',
  of: ({ questions }) => questions?.regret ?? null,
};

/** Of twenty questions. */
export const HALVING_HABITS: typeof HABITS = [
  QUESTIONS_LOST,
  { name: 'bits per question', of: ({ questions }) => questions?.bits ?? null },
];

export function habitsPicture({ sampled }: TrainedComparisons): string {
  const measured = [...HABITS, QUESTIONS_LOST].filter(({ of }) =>
    SIDES.some((side) => of(sampled[side]) !== null),
  );
  return barPicture({
    title: 'How it plays',
    subtitle: 'per dialogue, sampled play',
    categories: measured.map(({ name }) => name),
    series: SIDES.map((name) => barsOf(name, sampled, measured)),
    format: (value) => value.toFixed(1),
  });
}

function barsOf(
  name: (typeof SIDES)[number],
  comparison: TrainedComparison,
  habits: typeof HABITS,
): BarSeries {
  return {
    name,
    bars: habits.map(({ of }) => {
      const value = of(comparison[name]);
      return value === null ? null : { value };
    }),
  };
}
