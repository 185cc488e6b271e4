import { differencesOf } from '../comparison/experiment';
import { missingIn, type MeasuredRow, type MeasuredRuns } from '../comparison/measuredRuns';
import type { BaselineComparison } from '../comparison/untrainedBaseline';
import { HABITS, type Habit } from '../habits';
import { figureFields } from './agents';
import {
  field,
  FRACTION,
  isFigure,
  number,
  paired,
  POINTS,
  t,
  tableOf,
  wordColumn,
  type Cell,
  type Field,
  type Table,
} from './table';

/**
 * Runs that were not evaluated have the last rows.
 *
 * @param calledBy returns the name of a base model
 */
export function measuredTable(
  { setting, rows }: Pick<MeasuredRuns, 'setting' | 'rows'>,
  names: readonly string[],
  calledBy: (agent: string) => string,
): Table {
  const { success, testsPassed, turns } = figureFields;
  const first = rows.find(({ run }) => run !== undefined)?.run ?? 0;
  const measured = tableOf<MeasuredRow>(
    { name: setting.title, head: t('Model') },
    [
      success,
      field('vs_base', t('Δ vs. base (points)'), ({ againstStart }) => paired(againstStart?.success), {
        ...POINTS,
        isOptional: true,
      }),
      field(
        'vs_first',
        t('Δ vs. {0} (points)', names[first]!),
        ({ againstFirst }) => paired(againstFirst?.success),
        { ...POINTS, isOptional: true },
      ),
      testsPassed,
      turns,
      ...HABITS.filter(
        (habit) =>
          habit === 'askF1' || rows.some(({ worse = [] }) => worse.some((one) => one.habit === habit)),
      ).map(habitField),
    ],
    rows,
    ({ run, figures }) =>
      run === undefined ? { name: calledBy(figures.agent), remark: t('base model') } : { name: names[run]! },
  );
  const missing = missingIn(rows, names.length).map((run) => ({
    name: names[run]!,
    cells: measured.columns.map((_, at) => (at === 0 ? t('not evaluated') : null)),
  }));
  return { ...measured, rows: [...measured.rows, ...missing] };
}

const HABIT_FIELDS: Readonly<Record<Habit, keyof typeof figureFields>> = {
  needlessQuestions: 'needless',
  repeatedQuestions: 'repeated',
  meanQuestions: 'questions',
  unaskedRate: 'unasked',
  askF1: 'askF1',
  leakRate: 'leak',
  turnLimitRate: 'turnLimit',
};

function habitField(habit: Habit): Field<MeasuredRow> {
  const all = figureFields[HABIT_FIELDS[habit]];
  const cell = (row: MeasuredRow): Cell => {
    const shown = all.cell(row);
    const isWorse = row.worse?.some((change) => change.habit === habit) === true;
    return isFigure(shown) && isWorse ? { ...shown, remark: t('worse than the base model') } : shown;
  };
  return { ...all, cell, isOptional: true };
}

export interface Critic extends BaselineComparison {
  readonly run: string;
}

export const criticTable = (critics: readonly Critic[]): Table =>
  tableOf<Critic>(
    { name: t('Critics vs. untrained baseline'), head: t('Critic') },
    [
      field('accuracy', t('Held-out pair accuracy'), ({ accuracy, pairs }) => number(accuracy, pairs), {
        ...FRACTION,
        isCounted: true,
      }),
      field(
        'untrained',
        t('Untrained baseline'),
        ({ untrainedAccuracy, pairs }) => number(untrainedAccuracy, pairs),
        { ...FRACTION, isCounted: true },
      ),
      field(
        'gains',
        t('Rank correlation with the gains of drafts'),
        ({ gains }) => gains && withEnds(gains),
        { unit: '', digits: 2, isOptional: true },
      ),
      field(
        'correlation',
        t('Rank correlation with the untrained baseline'),
        ({ correlation }) => number(correlation),
        { unit: '', digits: 2 },
      ),
      field('spread', t('Score std. dev., critic'), ({ spread }) => number(spread), { unit: '', digits: 3 }),
      field(
        'untrained_spread',
        t('Score std. dev., untrained'),
        ({ untrainedSpread }) => number(untrainedSpread),
        { unit: '', digits: 3 },
      ),
      field('candidates', t('Turns ranked'), ({ candidates }) => number(candidates), { unit: 'count' }),
    ],
    critics,
    ({ run, stage }) => ({ name: run, remark: stage }),
  );

const withEnds = ({ mean, low, high }: NonNullable<BaselineComparison['gains']>): Cell => ({
  value: mean,
  ...(low !== null && high !== null && { interval: { low, high } }),
});

/** Undefined where the configurations are the same but for names and data. */
export function differenceTable(
  configurations: readonly unknown[],
  names: readonly string[],
): Table | undefined {
  const differences = differencesOf(configurations);
  if (differences.length === 0) return undefined;
  return {
    ...{ name: t('Configurations'), head: t('Setting') },
    columns: names.map(wordColumn),
    rows: differences.map(({ field, values }) => ({
      name: field,
      cells: values.map((value) => value ?? t('default')),
    })),
  };
}
