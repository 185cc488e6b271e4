import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { decimal } from '../language/numbers';
import { csv } from '../saving/csv';
import type { Figure, GroupView, ToWebview } from './protocol';

export interface Measure {
  /** In files, the same in every language. */
  readonly name: string;
  readonly title: string;
  readonly note: string;
  readonly format: (value: number) => string;
  /** In tables of numbers; a fraction is 0 to 1. */
  readonly unit: 'fraction' | 'turns' | 's' | 'score';
  /** Absent when the values have no bound. */
  readonly most?: number;
  /** Undefined where a group has no such value. */
  readonly of: (group: GroupView) => Figure | undefined;
  /** Number of dialogues that the value is of. */
  readonly dialogues: (group: GroupView) => number;
}

const percent = (value: number): string => t('{0} %', Math.round(100 * value));

const all = ({ dialogues }: GroupView): number => dialogues;

export const success: Measure = {
  name: 'success',
  title: t('Success'),
  note: t('All tests or checks passed; averaged per task first'),
  format: percent,
  unit: 'fraction',
  most: 1,
  of: (group) => group.success,
  dialogues: ({ graded }) => graded,
};

export const measures: readonly Measure[] = [
  success,
  {
    name: 'turns',
    title: t('Turns'),
    note: t('Agent turns of an answered dialogue, mean'),
    format: (value) => decimal(value, 1),
    unit: 'turns',
    of: (group) => group.turns,
    dialogues: all,
  },
  {
    name: 'leak',
    title: t('Leak'),
    note: t('Dialogues in which a reply gives the reference away'),
    format: (value) => t('{0} %', decimal(100 * value, 1)),
    unit: 'fraction',
    of: (group) => group.leak,
    dialogues: all,
  },
  {
    name: 'replySeconds',
    title: t('Time per reply'),
    note: t('By developers, median over dialogues'),
    format: (value) =>
      value < 90 ? t('{0} s', decimal(value, value < 10 ? 1 : 0)) : t('{0} min', decimal(value / 60, 1)),
    unit: 's',
    of: (group) => group.replySeconds,
    dialogues: all,
  },
];

/** One for each scale in the groups, since scores of two are never compared. */
export function pageMeasures(groups: readonly GroupView[]): Measure[] {
  const scales = new Set(groups.flatMap(({ pages = [] }) => pages.map(({ scale }) => scale)));
  return [...scales].map((scale) => {
    const ofScale = ({ pages = [] }: GroupView) => pages.find((one) => one.scale === scale);
    return {
      name: `score (${scale})`,
      title: t('Score of web pages'),
      note: t('Mean over tasks, by {0}. Pages without checks have no success.', withVisibleControls(scale)),
      format: (value) => decimal(value, 2),
      unit: 'score',
      most: 1,
      of: (group) => ofScale(group)?.score,
      dialogues: (group) => ofScale(group)?.dialogues ?? 0,
    };
  });
}

/** `41 % (38 % to 44 %)` */
export function inWords({ value, interval }: Figure, { format }: Measure): string {
  const { low, high } = interval ?? {};
  return low === undefined || high === undefined
    ? format(value)
    : t('{0} ({1} to {2})', format(value), format(Math.max(0, low)), format(high));
}

const NAMES = ['by', 'name', 'measure', 'unit', 'value', 'low', 'high', 'dialogues', 'graded'];

/** A row for each value: the periods, then each grouping. Column and measure names are the same in every language. */
export function statisticsCsv({ periods, unit, groups }: ToWebview): string {
  const rows = [[unit, periods] as const, ...Object.entries(groups)].flatMap(([by, ofOne]) =>
    [...measures, ...pageMeasures(ofOne)].flatMap(({ name: measure, unit: ofValue, of }) =>
      ofOne.flatMap((group) => {
        const figure = of(group);
        if (figure === undefined) return [];
        const { name, dialogues, graded } = group;
        const { value, interval } = figure;
        return [[by, name, measure, ofValue, value, interval?.low, interval?.high, dialogues, graded]];
      }),
    ),
  );
  return csv(NAMES, rows);
}

export function described(measure: Measure, groups: readonly GroupView[]): string {
  const values = groups.flatMap((group) => {
    const figure = measure.of(group);
    return figure === undefined ? [] : [t('{0}: {1}', group.name, inWords(figure, measure))];
  });
  return `${measure.title}. ${values.join('; ')}`;
}
