import { scaleInWords } from '../words';
import type { Figure } from '../interval';
import type { GroupStatistics } from '../statistics';
import { ASK_F1, field, number, t, tableOf, type Cell, type Field, type Table } from './table';

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
  field('dialogues', t('Dialogues'), ({ dialogues }) => number(dialogues), { unit: 'count' }),
  field('graded', t('Graded'), ({ graded }) => number(graded), { unit: 'count' }),
  field('success', t('Success'), ({ success, graded }) => over(success, graded), {
    unit: 'fraction',
    most: 1,
    note: t('All tests or checks passed; averaged per task first'),
  }),
  field('turns', t('Turns'), ({ turns, dialogues }) => over(turns, dialogues), {
    unit: 'turns',
    digits: 1,
    note: t('Agent turns of an answered dialogue, mean'),
  }),
  field('ask_f1', t('Ask-F1'), ({ askF1, dialogues }) => over(askF1, dialogues), {
    ...ASK_F1,
    isOptional: true,
    note: t('Harmonic mean of precision and recall of the questions about hidden decisions'),
  }),
  field('leak', t('Leak'), ({ leak, dialogues }) => over(leak, dialogues), {
    unit: 'fraction',
    digits: 1,
    note: t('Dialogues in which a reply gives the reference away'),
  }),
  field('replySeconds', t('Time per reply'), ({ replySeconds, dialogues }) => over(replySeconds, dialogues), {
    unit: 's',
    note: t('By developers, median over dialogues'),
  }),
];

/** The first columns count dialogues and those that are graded; the others are what is measured. */
export function statisticsTable(table: Pick<Table, 'name' | 'head'>, groups: readonly Named[]): Table {
  const scales = new Set(groups.flatMap(({ pages = [] }) => pages.map(({ scale }) => scaleInWords(scale))));
  return tableOf(table, [...measures, ...[...scales].map(ofPages)], groups, ({ name }) => ({ name }));
}

/** Each scale has a column of its own, because scores of two are never compared. */
const ofPages = (scale: string): Field<Named> =>
  field(
    `score (${scale})`,
    t('Score of web pages'),
    ({ pages = [] }) => {
      const found = pages.find((one) => scaleInWords(one.scale) === scale);
      return over(found?.score, found?.dialogues ?? 0);
    },
    {
      unit: 'score',
      digits: 2,
      most: 1,
      note: t('Mean over tasks, by {0}. Pages without checks have no success.', scale),
    },
  );
