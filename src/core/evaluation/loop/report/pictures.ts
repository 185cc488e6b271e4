import { figureOf } from '../../interval';
import { percent } from '../../words';
import type { TrainedComparisons } from '../comparison';
import { barPicture } from '../../pictures/chart';
import { countedHabits } from '../../report/loop';
import { inEnglish, isFigure } from '../../report/table';

export const PICTURES = 'pictures';

const SIDES = ['before', 'after'] as const;

export function successPicture({ sampled, greedy }: TrainedComparisons): string {
  return barPicture({
    title: 'Success on held-out tasks',
    subtitle: `${sampled.success.tasks} held-out tasks; the lines are 95 % intervals`,
    categories: ['sampled', 'greedy'],
    series: SIDES.map((name) => ({
      name,
      bars: [sampled, greedy].map(({ [name]: { success } }) => success && figureOf(success)),
    })),
    format: percent,
  });
}

export function habitsPicture(comparisons: TrainedComparisons): string {
  const { columns, rows } = countedHabits(comparisons);
  return barPicture({
    title: 'How it plays',
    subtitle: 'per dialogue, sampled play',
    categories: columns.map(({ title }) => inEnglish(title)),
    // The first two plays are sampled.
    series: SIDES.map((name, side) => {
      const bars = rows[side]!.cells.map((cell) => (isFigure(cell) ? cell : null));
      return { name, bars };
    }),
    format: (value) => value.toFixed(1),
  });
}
