import * as vscode from 'vscode';
import type { RunRecord } from '../../core/evaluation/comparison/experiment';
import { baselineComparisonsOf } from '../../core/evaluation/comparison/untrainedBaseline';
import type { EvaluationSetting } from '../../core/evaluation/loop/evaluationCache';
import { canPlay, canStartPlay } from '../../core/training/runFolder';
import { measuredRunsOf, missingIn, type MeasuredRuns } from '../../core/evaluation/comparison/measuredRuns';
import { criticTable, differenceTable, measuredTable } from '../../core/evaluation/report/comparison';
import { wordColumn, type Table } from '../../core/evaluation/report/table';
import type { Run } from '../../core/training/runs';
import { figureNames, type FigureName } from '../../core/training/events';
import { MAX_PINNED, type ChartName, type Choice } from '../../../webview/chart/protocol';
import type { ComparedRun, ComparisonView, MeasuredRunsView } from '../../../webview/comparison/protocol';
import { tasksWords, dataOf, stateWord, stageWord, namesOf, endedAt } from '../run/words';
import { baseName, dates, methodWord } from '../words';
import { language } from '../pageHtml';

const { t } = vscode.l10n;

interface ViewOptions {
  readonly calledBy: (name: string) => string;
  readonly dataFolder: string;
  readonly restriction: string;
  readonly playing: string;
  /** All pinned charts, also those that none of the runs has. */
  readonly pinned: readonly ChartName[];
}

export function comparisonView(
  records: readonly RunRecord[],
  choice: Choice,
  { calledBy, pinned, ...rest }: ViewOptions,
): ComparisonView {
  const { stage, figure } = shownFigure(records, choice);
  const names = namesOf(records.map(({ run }) => run));
  const differences = differenceTable(
    records.map(({ configuration }) => configuration),
    names,
  );
  const critics = records.flatMap(({ history }, index) =>
    baselineComparisonsOf(history).map((critic) => ({
      ...critic,
      run: names[index]!,
      stage: stageWord(critic.stage),
    })),
  );
  return {
    ...{ type: 'show', ...rest, stage, figure },
    ids: records.map(({ run }) => run.id),
    runs: records.map(({ run }, index) => comparedRun(run, names[index]!)),
    table: runTable(records, names),
    stages: stagesOf(records).map((name) => ({ name, label: stageWord(name) })),
    figures: figuresOf(records, stage),
    pinned: pinned
      .filter((chart) => figuresOf(records, chart.stage).includes(chart.figure))
      .slice(0, MAX_PINNED),
    ...(differences && { differences }),
    measured: measuredRunsOf(records.map(({ kept }) => kept)).map((one) =>
      measuredRunsView(one, names, calledBy),
    ),
    ...(critics.length > 0 && { critics: criticTable(critics) }),
  };
}

const runTable = (records: readonly RunRecord[], names: readonly string[]): Table => ({
  ...{ name: t('Runs'), head: t('Run') },
  columns: [t('State'), t('Method'), t('Training data')].map(wordColumn),
  rows: records.map(({ run, history }, index) => ({
    name: names[index]!,
    cells: [
      [stateWord(run), ...endedAt(run)].join(', '),
      t('{0} on {1}', methodWord(run.method, t), baseName(run)),
      dataOf(run, history) || null,
    ],
  })),
});

function comparedRun(run: Run, name: string): ComparedRun {
  const { id, state } = run;
  return {
    ...{ id, name },
    silent: canPlay(run)
      ? ''
      : state === 'done'
        ? t('{0} cannot play here, because it has no ONNX graph: `tandem onnx` makes one.', name)
        : t('{0} has no model yet that could play.', name),
    startSilent:
      canPlay(run) && !canStartPlay(run)
        ? t(
            '{0} is evaluated without its base model: {1} has no ONNX graph on this machine.',
            name,
            baseName(run),
          )
        : '',
  };
}

const stagesOf = (records: readonly RunRecord[]): string[] => [
  ...new Set(records.flatMap(({ history }) => history.trained)),
];

const figuresOf = (records: readonly RunRecord[], stage: string): FigureName[] =>
  figureNames.filter((figure) => records.some(({ history }) => history.figuresOf(stage).includes(figure)));

/** Defaults to the last stage that all runs have, and its main figure. */
export function shownFigure(
  records: readonly RunRecord[],
  choice: Choice,
): { readonly stage: string; readonly figure: FigureName } {
  const stages = stagesOf(records);
  const inAll = stages.filter((stage) => records.every(({ history }) => history.trained.includes(stage)));
  const chosen = stages.find((stage) => stage === choice.stage);
  const stage = chosen ?? inAll.at(-1) ?? stages.at(-1) ?? '';
  const figures = figuresOf(records, stage);
  const figure = figures.find((one) => one === choice.figure) ?? figures[0] ?? 'loss';
  return { stage, figure };
}

function measuredRunsView(
  { setting, at, rows }: MeasuredRuns,
  names: readonly string[],
  calledBy: ViewOptions['calledBy'],
): MeasuredRunsView {
  const title = tasksWords(setting);
  const date = dates(language(), { day: 'numeric', month: 'short', year: 'numeric' });
  const how = t('{0}; {1}', howOf(setting, calledBy(setting.simulator)), date.format(new Date(at)));
  return {
    ...{ key: setting.key, title, how },
    table: {
      ...measuredTable({ setting, rows }, names, calledBy),
      name: t('Held-out success, {0}: {1}', title, how),
    },
    missing: missingIn(rows, names.length),
  };
}

function howOf({ temperature, rollouts }: EvaluationSetting, simulator: string): string {
  const play = temperature === 0 ? t('greedy') : t('sampled at temperature {0}', temperature);
  return rollouts === 1
    ? t('{0}, one dialogue per task with {1}', play, simulator)
    : t('{0}, {1} dialogues per task with {2}', play, rollouts, simulator);
}
