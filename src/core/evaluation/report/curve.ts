import type { OverSeeds } from '../overSeeds';
import type { Curve, CurvePoint, MoreHelps } from '../savedCurves';
import { points as inPoints } from '../words';
import { COUNT, field, FRACTION, t, tableOf, type Cell, type Sentence, type Table } from './table';

interface Row extends Partial<Pick<CurvePoint, 'share' | 'tasks' | 'dialogues'>> {
  readonly success: OverSeeds;
}

const cell = ({ mean, interval }: OverSeeds): Cell => ({ value: mean, ...(interval && { interval }) });
const whole = (count: number | undefined): Cell =>
  count === undefined ? null : { value: Math.round(count) };

/** A row for the untrained model, and one for each share. */
export function curveTable({ start, points }: Curve): Table {
  const rows: readonly Row[] = [...(start === undefined ? [] : [{ success: start }]), ...points];
  return tableOf<Row>(
    { name: t('Learning curve'), head: t('Trained on') },
    [
      field('tasks', t('Tasks'), ({ tasks }) => whole(tasks), COUNT),
      field('dialogues', t('Dialogues'), ({ dialogues }) => whole(dialogues), COUNT),
      field('success', t('Success'), ({ success }) => cell(success), { ...FRACTION, most: 1 }),
    ],
    rows,
    ({ share }) => ({ name: share === undefined ? t('nothing') : `${Math.round(100 * share)} %` }),
  );
}

const verdicts: Readonly<Record<MoreHelps, Sentence>> = {
  likely: t('More dialogues would likely help.'),
  'no sign': t('No sign that more dialogues would help.'),
  'too few': t('Too few seeds or validation tasks to tell whether more dialogues would help.'),
};

/** The verdict first, then the gain that it follows from. */
export function curveFindings({ points, gain, moreHelps, validation }: Curve): Sentence[] {
  const [before, last] = points.slice(-2).map(({ share }) => `${Math.round(100 * share)} %`);
  const { mean, interval, bySeed } = gain;
  const range = interval === null ? '' : ` [${inPoints(interval.low)}, ${inPoints(interval.high)}]`;
  return [
    verdicts[moreHelps],
    t(
      'From {0} to {1} of the tasks, success changes by {2} points. Validation tasks: {3}. Training seeds: {4}. In brackets: 95 % intervals over both.',
      before!,
      last!,
      `${inPoints(mean)}${range}`,
      validation,
      bySeed.length,
    ),
  ];
}
