import { scaleInWords } from '../words';
import type { Figure } from '../interval';
import type { GroupStatistics } from '../statistics';
import { number, t, tableOf, type Cell, type Field, type Table } from './table';

interface Named extends GroupStatistics {
  readonly name: string;
}

/** None of these can be below zero, although the interval of a mean can. */
const over = (figure: Figure | undefined, of: number): Cell =>
  figure === undefined
    ? null
    : {
        ...{ value: figure.value, of },
        ...(figure.interval && { interval: { ...figure.interval, low: Math.max(0, figure.interval.low) } }),
      };

const measures: readonly Field<Named>[] = [
  {
    ...{ name: 'dialogues', title: t('Dialogues'), unit: 'count' },
    cell: ({ dialogues }) => number(dialogues),
  },
  { ...{ name: 'graded', title: t('Graded'), unit: 'count' }, cell: ({ graded }) => number(graded) },
  {
    ...{ name: 'success', title: t('Success'), unit: 'fraction', most: 1 },
    note: t('All tests or checks passed; averaged per task first'),
    cell: ({ success, graded }) => over(success, graded),
  },
  {
    ...{ name: 'turns', title: t('Turns'), unit: 'turns', digits: 1 },
    note: t('Agent turns of an answered dialogue, mean'),
    cell: ({ turns, dialogues }) => over(turns, dialogues),
  },
  {
    ...{ name: 'leak', title: t('Leak'), unit: 'fraction', digits: 1 },
    note: t('Dialogues in which a reply gives the reference away'),
    cell: ({ leak, dialogues }) => over(leak, dialogues),
  },
  {
    ...{ name: 'replySeconds', title: t('Time per reply'), unit: 's' },
    note: t('By developers, median over dialogues'),
    cell: ({ replySeconds, dialogues }) => over(replySeconds, dialogues),
  },
];

/** The first columns count dialogues and those that are graded; the others are what is measured. */
export function statisticsTable(table: Pick<Table, 'name' | 'head'>, groups: readonly Named[]): Table {
  const scales = new Set(groups.flatMap(({ pages = [] }) => pages.map(({ scale }) => scaleInWords(scale))));
  return tableOf(table, [...measures, ...[...scales].map(ofPages)], groups, ({ name }) => ({ name }));
}

/** Each scale has a column of its own, because scores of two are never compared. */
const ofPages = (scale: string): Field<Named> => ({
  ...{ name: `score (${scale})`, title: t('Score of web pages'), unit: 'score', digits: 2, most: 1 },
  note: t('Mean over tasks, by {0}. Pages without checks have no success.', scale),
  cell: ({ pages = [] }) => {
    const found = pages.find((one) => scaleInWords(one.scale) === scale);
    return over(found?.score, found?.dialogues ?? 0);
  },
});
