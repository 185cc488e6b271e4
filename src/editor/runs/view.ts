import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Kept } from '../../core/loop/kept';
import type { CurveMark, CurveNews } from '../../core/training/history/curve';
import type { RunHistory, Curves, Figure } from '../../core/training/history/history';
import { mayFinish } from '../../core/training/finish';
import { fractionOf } from '../../core/training/progress';
import { runFiles } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import type { CurvePart } from '../../../webview/chart/protocol';
import type {
  Choice,
  CurveView,
  FigureView,
  RunView,
  SamplesView,
  StageView,
} from '../../../webview/run/protocol';
import type { Translate } from '../translate';
import { measuredWords } from './measured';
import { resultWords } from './told';
import {
  baseName,
  dataWords,
  grouped,
  isAtWork,
  leftWords,
  reasonWords,
  runName,
  stageWord,
  stateWord,
  subjectWords,
} from './words';

const OUTLINE_POINTS = 60;
const MOST_GROUPS = 8;
/** Longer texts than anybody reads in a row of a table. */
const MOST_CHARACTERS = 2000;

/** The run as the view draws it, but for its curves. */
export function runView(
  run: Run,
  history: RunHistory,
  choice: Choice,
  {
    t,
    dataFolder,
    restriction,
    kept,
    halted,
  }: {
    readonly t: Translate;
    readonly dataFolder: string;
    readonly restriction: string;
    /** Its evaluations. */
    readonly kept: readonly Kept[];
    /** Why no run that waits begins. */
    readonly halted?: string | undefined;
  },
): RunView {
  const { id, state, canResume, lastLines } = run;
  const isLive = isAtWork(run);
  const { stage, figure } = shownCurve(history, choice);
  const { progress } = history;
  return {
    ...{ type: 'show', dataFolder, id, state, isLive, canResume, lastLines, restriction, stage, figure },
    canFinish: mayFinish(run),
    name: runName(run, t),
    subject: subjectWords(run, baseName(run), t),
    data: dataOf(run, history, t),
    stateLabel: stateWord(state, t),
    stages: stagesOf(run, history, t),
    // One that ends sooner than it was to says no time: what it goes by is the whole run.
    left: (state === 'running' && progress !== undefined ? leftWords(progress, t) : undefined) ?? '',
    sentence: (state === 'done' ? resultWords(history, t) : reasonWords(run, t, halted)) ?? '',
    isHalted: state === 'queued' && halted !== undefined,
    result: resultOf(run),
    measured: state === 'done' ? measuredWords(kept, t) : '',
    figures: history.figuresOf(stage).map((name) => ({
      ...figureView(name, history.curves(stage, name)!),
      ...controlOf(history, stage, name),
    })),
  };
}

/** What is chosen as far as it is there; else the stage at work, and in it what matters most. */
export function shownCurve(
  history: RunHistory,
  choice: Choice,
): { readonly stage: string; readonly figure: Figure } {
  const { trained, progress } = history;
  const there = (stage: string | undefined): boolean => stage !== undefined && trained.includes(stage);
  const stage = [choice.stage, progress?.stage].find(there) ?? trained.at(-1) ?? '';
  const figures = history.figuresOf(stage);
  const chosen = choice.figure;
  const figure = chosen !== undefined && figures.includes(chosen) ? chosen : (figures[0] ?? 'loss');
  return { stage, figure };
}

/** Where somebody has read the curves of one stage and figure. */
export interface ReadCurves {
  readonly key: string;
  readonly training: CurveMark;
  readonly heldOut: CurveMark;
}

/** What is new of the curves that are shown; undefined when nothing is. */
export function curveView(
  history: RunHistory,
  { stage, figure }: { readonly stage: string; readonly figure: Figure },
  before: ReadCurves | undefined,
): { readonly view: CurveView; readonly read: ReadCurves } | undefined {
  const curves = history.curves(stage, figure);
  if (curves === undefined) return undefined;
  const key = `${stage} ${figure}`;
  const known = before?.key === key ? before : undefined;
  const training = curves.training.since(known?.training);
  const heldOut = curves.heldOut.since(known?.heldOut);
  return {
    view: {
      ...{ type: 'curve', stage, figure },
      training: partOf(training),
      heldOut: partOf(heldOut),
      stepsPerPoint: curves.training.valuesPerPoint,
    },
    read: { key, training: training.mark, heldOut: heldOut.mark },
  };
}

export function samplesView({ samples }: RunHistory): SamplesView {
  const groups = samples.slice(-MOST_GROUPS).reverse();
  return {
    type: 'samples',
    groups: groups.map(({ history = [], candidates }) => ({
      history: history
        .filter(({ role }) => role !== 'system')
        .map(({ role, content }) => ({ isAgent: role === 'assistant', text: shortened(content) })),
      candidates: candidates.map(({ text, times = 1, score, untrained }) => ({
        text: shortened(text),
        times,
        ...(score != null && { score }),
        ...(untrained != null && { untrained }),
      })),
    })),
  };
}

const shortened = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)} …` : text;

/** What the trainer has read is nearer to the truth than what it was given. */
export function dataOf(run: Run, { data }: RunHistory, t: Translate): string {
  if (data === undefined) return dataWords(run, t) ?? '';
  const { trajectories, tasks, turns } = data;
  return t('{0} trajectories of {1} tasks, {2} turns', grouped(trajectories), grouped(tasks), grouped(turns));
}

function stagesOf({ state }: Run, history: RunHistory, t: Translate): StageView[] {
  const { stages, progress, trained } = history;
  const now = stages.indexOf(progress?.stage ?? 'prepare');
  // A run that was resumed begins anew with its data, whatever it had come to before.
  const furthest = stages.findLastIndex((stage) => history.hasBegun(stage));
  return stages.map((name, index): StageView => {
    const isDone = state === 'done' || index < now || (index < furthest && index !== now);
    const fraction = index === now && progress !== undefined ? fractionOf(progress) : undefined;
    return {
      name,
      label: stageWord(name, t),
      state: isDone ? 'done' : index === now ? 'now' : 'waiting',
      hasCurves: trained.includes(name),
      ...(fraction !== undefined && state !== 'done' && { fraction }),
    };
  });
}

function figureView(name: Figure, { training, heldOut }: Curves): FigureView {
  const isOutlineHeldOut = heldOut.all.length > 1;
  const drawn = isOutlineHeldOut ? heldOut : training;
  return {
    name,
    ...(training.last !== undefined && { training: training.last }),
    ...(heldOut.last !== undefined && { heldOut: heldOut.last }),
    outline: drawn.outline(OUTLINE_POINTS).map(short),
    isOutlineHeldOut,
  };
}

/** The accuracy of a critic stands beside that of the untrained score, on the same pairs. */
function controlOf({ control }: RunHistory, stage: string, figure: Figure): Pick<FigureView, 'untrained'> {
  const accuracy = control?.stage === stage && figure === 'accuracy' ? control.accuracy : undefined;
  return accuracy == null ? {} : { untrained: accuracy };
}

export function resultOf({ folder, state }: Run): RunView['result'] {
  if (state !== 'done') return 'none';
  return existsSync(path.join(folder, runFiles.model, 'onnx')) ? 'playable' : 'model';
}

/** As a view takes it. */
export const partOf = ({ from, buckets }: CurveNews): CurvePart => ({
  from,
  points: buckets.flatMap(({ to, sum, count, low, high }) => [
    to,
    short(sum / count),
    short(low),
    short(high),
  ]),
});

/** As exact as a screen is. */
const short = (value: number): number => Number(value.toPrecision(6));
