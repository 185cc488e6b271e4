import { t } from '../language';
import { decimal } from '../language/numbers';
import { csv } from '../saving/csv';
import type { Figure, GroupView, ToWebview } from './protocol';

type MeasureName = 'success' | 'turns' | 'leak' | 'replySeconds';

export interface Measure {
  readonly name: MeasureName;
  readonly title: string;
  readonly note: string;
  readonly format: (value: number) => string;
  /** In tables of numbers; a fraction is 0 to 1. */
  readonly unit: 'fraction' | 'turns' | 's';
  /** Absent when the values have no bound. */
  readonly most?: number;
}

const percent = (value: number): string => t('{0} %', Math.round(100 * value));

export const success: Measure = {
  name: 'success',
  title: t('Success'),
  note: t('All tests passed; averaged per task first'),
  format: percent,
  unit: 'fraction',
  most: 1,
};

export const measures: readonly Measure[] = [
  success,
  {
    name: 'turns',
    title: t('Turns'),
    note: t('Agent turns of an answered dialogue, mean'),
    format: (value) => decimal(value, 1),
    unit: 'turns',
  },
  {
    name: 'leak',
    title: t('Leak'),
    note: t('Dialogues in which a reply gives the reference away'),
    format: (value) => t('{0} %', decimal(100 * value, 1)),
    unit: 'fraction',
  },
  {
    name: 'replySeconds',
    title: t('Time per reply'),
    note: t('By developers, median over dialogues'),
    format: (value) =>
      value < 90 ? t('{0} s', decimal(value, value < 10 ? 1 : 0)) : t('{0} min', decimal(value / 60, 1)),
    unit: 's',
  },
];

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
    measures.flatMap(({ name: measure, unit: ofValue }) =>
      ofOne.flatMap(({ name, dialogues, graded, [measure]: figure }) => {
        if (figure === undefined) return [];
        const { value, interval } = figure;
        return [[by, name, measure, ofValue, value, interval?.low, interval?.high, dialogues, graded]];
      }),
    ),
  );
  return csv(NAMES, rows);
}

export function described(measure: Measure, groups: readonly GroupView[]): string {
  const values = groups.flatMap((group) => {
    const figure = group[measure.name];
    return figure === undefined ? [] : [t('{0}: {1}', group.name, inWords(figure, measure))];
  });
  return `${measure.title}. ${values.join('; ')}`;
}
