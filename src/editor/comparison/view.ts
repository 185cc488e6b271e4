import { differencesOf } from '../../core/experiment/configurations';
import { controlsOf } from '../../core/experiment/control';
import type { RunRecord } from '../../core/experiment/experiment';
import type { Setting } from '../../core/loop/kept';
import { canPlay, canStartPlay } from '../../core/experiment/playable';
import { standingsOf, type Standing, type StandingRow } from '../../core/experiment/standings';
import type { Estimate } from '../../core/evaluation/figures';
import type { PairedDifference } from '../../core/evaluation/paired';
import { figures as allFigures, type Figure } from '../../core/training/history/history';
import type { CurveMark } from '../../core/training/history/curve';
import type { CurvePart } from '../../../webview/chart/protocol';
import type {
  Choice,
  ComparedRun,
  ComparisonView,
  CurvesView,
  EstimateView,
  PairedView,
  StandingRowView,
  StandingView,
} from '../../../webview/comparison/protocol';
import { dataOf, partOf } from '../runs/view';
import { baseName, endedAt, methodWord, stageWord, stateWord } from '../runs/words';
import type { Translate } from '../translate';
import { namesOf } from './names';

export interface ViewOptions {
  /** What a person calls a model. */
  readonly calledBy: (name: string) => string;
  readonly t: Translate;
  /** In which dates are written. */
  readonly language: string;
  readonly dataFolder: string;
  readonly restriction: string;
  readonly playing: string;
}

/** The runs as the view draws them, but for their curves. */
export function comparisonView(
  records: readonly RunRecord[],
  choice: Choice,
  { t, language, calledBy, ...rest }: ViewOptions,
): ComparisonView {
  const { stage, figure } = shownFigure(records, choice);
  const names = namesOf(
    records.map(({ run }) => run),
    t,
  );
  return {
    ...{ type: 'show', ...rest, stage, figure },
    ids: records.map(({ run }) => run.id),
    runs: records.map((record, index) => comparedRun(record, names[index]!, t)),
    stages: stagesOf(records).map((name) => ({ name, label: stageWord(name, t) })),
    figures: figuresOf(records, stage),
    differences: differencesOf(records.map(({ configuration }) => configuration)).map(
      ({ field, values }) => ({
        field,
        values: values.map((value) => value ?? null),
      }),
    ),
    standings: standingsOf(records.map(({ kept }) => kept)).map((one) =>
      standingView(one, names, { t, language, calledBy }),
    ),
    controls: records.flatMap(({ history }, run) =>
      controlsOf(history).map((control) => ({ run, ...control, stage: stageWord(control.stage, t) })),
    ),
  };
}

function comparedRun({ run, history }: RunRecord, name: string, t: Translate): ComparedRun {
  const { id, state } = run;
  return {
    ...{ id, name, state },
    subject: t('{0} on {1}', methodWord(run.method, t), baseName(run)),
    data: dataOf(run, history, t),
    stateLabel: [stateWord(state, t), ...endedAt(run, t)].join(', '),
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

/** Those that any of the runs has in a stage. */
const figuresOf = (records: readonly RunRecord[], stage: string): Figure[] =>
  allFigures.filter((figure) => records.some(({ history }) => history.figuresOf(stage).includes(figure)));

/** What is chosen as far as it is there; else the last stage that all have, and in it what matters most. */
export function shownFigure(
  records: readonly RunRecord[],
  choice: Choice,
): { readonly stage: string; readonly figure: Figure } {
  const stages = stagesOf(records);
  const inAll = stages.filter((stage) => records.every(({ history }) => history.trained.includes(stage)));
  const chosen = stages.find((stage) => stage === choice.stage);
  const stage = chosen ?? inAll.at(-1) ?? stages.at(-1) ?? '';
  const figures = figuresOf(records, stage);
  const figure = figures.find((one) => one === choice.figure) ?? figures[0] ?? 'loss';
  return { stage, figure };
}

/** Where somebody has read the curves of some runs. */
export interface ReadCurves {
  /** Another one is of other curves. */
  readonly key: string;
  /** Of each run; undefined of one that has no such figure. */
  readonly marks: readonly ({ readonly training: CurveMark; readonly heldOut: CurveMark } | undefined)[];
}

/** What is new of the curves that are shown. */
export function curvesView(
  records: readonly RunRecord[],
  choice: Choice,
  before: ReadCurves | undefined,
): { readonly view: CurvesView; readonly read: ReadCurves } {
  const { stage, figure } = shownFigure(records, choice);
  const key = [stage, figure, ...records.map(({ run }) => run.id)].join(' ');
  const known = before?.key === key ? before.marks : [];
  const news = records.map(({ history }, index) => {
    const curves = history.curves(stage, figure);
    return (
      curves && {
        training: curves.training.since(known[index]?.training),
        heldOut: curves.heldOut.since(known[index]?.heldOut),
      }
    );
  });
  return {
    view: {
      ...{ type: 'curves', stage, figure },
      curves: news.map((one) =>
        one === undefined
          ? { training: NOTHING, heldOut: NOTHING }
          : { training: partOf(one.training), heldOut: partOf(one.heldOut) },
      ),
    },
    read: {
      key,
      marks: news.map((one) => one && { training: one.training.mark, heldOut: one.heldOut.mark }),
    },
  };
}

const NOTHING: CurvePart = { from: 0, points: [] };

function standingView(
  { setting, at, rows }: Standing,
  names: readonly string[],
  { t, language, calledBy }: Pick<ViewOptions, 't' | 'language' | 'calledBy'>,
): StandingView {
  return {
    key: setting.key,
    title: titleOf(setting, t),
    how: t('{0}; {1}', howOf(setting, calledBy(setting.simulator), t), dateOf(at, language)),
    rows: rows.map((row) => rowView(row, names, calledBy)),
  };
}

function dateOf(at: string, language: string): string {
  // In English the day first, as in other languages: `8 Mar 2026`.
  const locale = language === 'en' ? 'en-GB' : language;
  return new Date(at).toLocaleDateString(locale, { day: 'numeric', month: 'short', year: 'numeric' });
}

const titleOf = ({ title, tasks }: Setting, t: Translate): string =>
  tasks === 1 ? t('{0}, 1 task', title) : t('{0}, {1} tasks', title, tasks);

function howOf({ temperature, rollouts }: Setting, simulator: string, t: Translate): string {
  const play = temperature === 0 ? t('greedy') : t('temperature {0}', temperature);
  return rollouts === 1
    ? t('{0}, one dialogue per task with {1}', play, simulator)
    : t('{0}, {1} dialogues per task with {2}', play, rollouts, simulator);
}

function rowView(
  { run, figures, againstStart, againstFirst }: StandingRow,
  names: readonly string[],
  calledBy: ViewOptions['calledBy'],
): StandingRowView {
  return {
    ...(run !== undefined && { run }),
    name: run === undefined ? calledBy(figures.agent) : names[run]!,
    success: estimateView(figures.success),
    testsPassed: estimateView(figures.testsPassed),
    turns: figures.meanTurns,
    dialogues: figures.dialogues,
    ...(againstStart && { againstStart: pairedView(againstStart.success) }),
    ...(againstFirst && { againstFirst: pairedView(againstFirst.success) }),
  };
}

const estimateView = (estimate: Estimate | null): EstimateView =>
  estimate && { mean: estimate.mean, ...estimate.interval };

const pairedView = ({ difference, interval, p, tasks }: PairedDifference): PairedView => ({
  ...{ difference, p, tasks },
  ...(interval && { interval }),
});
