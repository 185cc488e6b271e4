import { differencesOf } from '../comparison/experiment';
import { missingIn, type MeasuredRow, type MeasuredRuns } from '../comparison/measuredRuns';
import type { BaselineComparison } from '../comparison/untrainedBaseline';
import type { PairedDifference } from '../paired';
import { estimated, number, t, tableOf, wordColumn, type Cell, type Table } from './table';

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
  const first = rows.find(({ run }) => run !== undefined)?.run ?? 0;
  const measured = tableOf<MeasuredRow>(
    { name: setting.title, head: t('Model') },
    [
      {
        ...{ name: 'success', title: t('Success (95 % interval)'), unit: 'fraction', digits: 1, most: 1 },
        cell: ({ figures }) => estimated(figures.success, figures.dialogues),
      },
      {
        ...{ name: 'vs_base', title: t('Δ vs. base (points)'), unit: 'points', isOptional: true },
        cell: ({ againstStart }) => paired(againstStart?.success),
      },
      {
        ...{
          name: 'vs_first',
          title: t('Δ vs. {0} (points)', names[first]!),
          unit: 'points',
          isOptional: true,
        },
        cell: ({ againstFirst }) => paired(againstFirst?.success),
      },
      {
        ...{ name: 'tests_passed', title: t('Tests passed'), unit: 'fraction', digits: 1 },
        cell: ({ figures }) => estimated(figures.testsPassed),
      },
      {
        ...{ name: 'turns', title: t('Turns'), unit: 'turns', digits: 1 },
        cell: ({ figures }) => number(figures.meanTurns),
      },
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

function paired(of: PairedDifference | undefined): Cell {
  if (of === undefined) return null;
  const { difference, interval, p, tasks } = of;
  if (difference === null || p === null) return t('no tasks in common');
  return {
    ...{ value: difference, p },
    ...(interval === null ? { remark: t('too few tasks for an interval: {0}', tasks) } : { interval }),
  };
}

export interface Critic extends BaselineComparison {
  readonly run: string;
}

export const criticTable = (critics: readonly Critic[]): Table =>
  tableOf<Critic>(
    { name: t('Critics vs. untrained baseline'), head: t('Critic') },
    [
      {
        ...{
          name: 'accuracy',
          title: t('Held-out pair accuracy'),
          unit: 'fraction',
          digits: 1,
          isCounted: true,
        },
        cell: ({ accuracy, pairs }) => number(accuracy, pairs),
      },
      {
        ...{
          name: 'untrained',
          title: t('Untrained baseline'),
          unit: 'fraction',
          digits: 1,
          isCounted: true,
        },
        cell: ({ untrainedAccuracy, pairs }) => number(untrainedAccuracy, pairs),
      },
      {
        ...{ name: 'gains', title: t('Rank correlation with the gains of drafts'), unit: '', digits: 2 },
        ...{ isOptional: true, cell: ({ gains }) => gains && withEnds(gains) },
      },
      {
        ...{
          name: 'correlation',
          title: t('Rank correlation with the untrained baseline'),
          unit: '',
          digits: 2,
        },
        cell: ({ correlation }) => number(correlation),
      },
      {
        ...{ name: 'spread', title: t('Score std. dev., critic'), unit: '', digits: 3 },
        cell: ({ spread }) => number(spread),
      },
      {
        ...{ name: 'untrained_spread', title: t('Score std. dev., untrained'), unit: '', digits: 3 },
        cell: ({ untrainedSpread }) => number(untrainedSpread),
      },
      {
        ...{ name: 'candidates', title: t('Turns ranked'), unit: 'count' },
        cell: ({ candidates }) => number(candidates),
      },
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
