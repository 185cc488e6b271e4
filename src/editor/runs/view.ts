import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { KeptEvaluation } from '../../core/evaluation/loop/evaluationCache';
import type { FigureName } from '../../core/training/events';
import type { RunHistory, Curves } from '../../core/training/history/history';
import { mayFinish } from '../../core/training/lifecycle';
import { fractionOf } from '../../core/training/progress';
import { runFiles } from '../../core/training/runFolder';
import type { Run } from '../../core/training/runs';
import { MAX_PINNED, type ChartName, type Choice } from '../../../webview/chart/protocol';
import type { FigureView, RunView, SamplesView, StageView } from '../../../webview/run/protocol';
import {
  measuredWords,
  worseWords,
  isUnstarted,
  dataOf,
  isAtWork,
  leftWords,
  nodeStateWord,
  reasonWords,
  runName,
  stageWord,
  stateWord,
  subjectWords,
  tagWords,
} from '../run/words';
import { resultWords, unimprovedWords } from './eventMessages';
import { grouped } from '../../core/text';
import { gpuNames } from '../../core/training/cluster';
import { baseName } from '../words';

const { t } = vscode.l10n;

const OUTLINE_POINTS = 60;
const MAX_GROUPS = 8;
/** Longer texts are cut in a row. */
const MAX_CHARS = 2000;

interface RunContext {
  readonly dataFolder: string;
  readonly restriction: string;
  readonly kept: readonly KeptEvaluation[];
  /** Why the queue is halted. */
  readonly halted?: string | undefined;
  /** All pinned charts, also those that this run does not have. */
  readonly pinned: readonly ChartName[];
}

export function runView(
  run: Run,
  history: RunHistory,
  choice: Choice,
  { dataFolder, restriction, kept, halted, pinned }: RunContext,
): RunView {
  const { id, state, request = 'none', canResume, lastLines } = run;
  const isLive = isAtWork(run);
  const { stage, figure } = shownCurve(history, choice);
  const { progress } = history;
  return {
    ...{ type: 'show', dataFolder, id, state, request, isLive, canResume, lastLines, restriction },
    ...{ stage, figure, isUnstarted: isUnstarted(run), canFinish: mayFinish(run) },
    name: runName(run),
    subject: subjectWords(run, baseName(run)),
    ...{ tags: tagWords(run), note: run.note ?? '' },
    data: dataOf(run, history),
    stateLabel: stateWord(run),
    stages: stagesOf(run, history),
    nodes: (history.nodes?.nodes ?? []).map(({ host, state: ofNode, workers, gpus }) => ({
      ...{ host, state: ofNode, workers },
      stateLabel: nodeStateWord(ofNode, isLive),
      gpus: gpuNames(gpus),
    })),
    workers: workersWords(history),
    // The estimate is for the whole run, so an early end shows none.
    left:
      (state === 'running' && request === 'none' && progress !== undefined
        ? leftWords(progress)
        : undefined) ?? '',
    sentence: (state === 'done' ? resultWords(history) : reasonWords(run, halted)) ?? '',
    isHalted: state === 'queued' && halted !== undefined,
    result: resultOf(run),
    measured: state === 'done' ? measuredWords(kept) : '',
    isEvaluated: state === 'done' && kept.length > 0,
    caution:
      state === 'done' ? [unimprovedWords(history), ...worseWords(kept)].filter(Boolean).join(' ') : '',
    figures: history.figuresOf(stage).map((name) => ({
      ...figureView(name, history.curves(stage, name)!),
      ...controlOf(history, stage, name),
    })),
    pinned: pinned
      .filter((chart) => history.curves(chart.stage, chart.figure) !== undefined)
      .slice(0, MAX_PINNED)
      .map((chart) => ({ ...chart, ...controlOf(history, chart.stage, chart.figure) })),
  };
}

/** Defaults to the stage at work and its main figure. */
export function shownCurve(
  history: RunHistory,
  choice: Choice,
): { readonly stage: string; readonly figure: FigureName } {
  const { trained, progress } = history;
  const there = (stage: string | undefined): boolean => stage !== undefined && trained.includes(stage);
  const stage = [choice.stage, progress?.stage].find(there) ?? trained.at(-1) ?? '';
  const figures = history.figuresOf(stage);
  const chosen = choice.figure;
  const figure = chosen !== undefined && figures.includes(chosen) ? chosen : (figures[0] ?? 'loss');
  return { stage, figure };
}

export function samplesView({ samples }: RunHistory): SamplesView {
  const groups = samples.slice(-MAX_GROUPS).reverse();
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
  text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)} …` : text;

function stagesOf({ state }: Run, history: RunHistory): StageView[] {
  const { stages, progress, trained } = history;
  const now = stages.indexOf(progress?.stage ?? 'prepare');
  // A resumed run begins with its data again.
  const furthest = stages.findLastIndex((stage) => history.hasBegun(stage));
  return stages.map((name, index): StageView => {
    const isDone = state === 'done' || index < now || (index < furthest && index !== now);
    const fraction = index === now && progress !== undefined ? fractionOf(progress) : undefined;
    return {
      name,
      label: stageWord(name),
      state: isDone ? 'done' : index === now ? 'now' : 'waiting',
      hasCurves: trained.includes(name),
      ...(fraction !== undefined && state !== 'done' && { fraction }),
    };
  });
}

function workersWords({ nodes }: RunHistory): string {
  if (nodes === undefined) return '';
  const count = nodes.nodes.reduce((sum, { workers }) => sum + workers, 0);
  return count === nodes.asked
    ? count === 1
      ? t('1 worker')
      : t('{0} workers', grouped(count))
    : t('{0} of {1} workers', grouped(count), grouped(nodes.asked));
}

function figureView(name: FigureName, { training, heldOut }: Curves): FigureView {
  const isOutlineHeldOut = heldOut.all.length > 1;
  const drawn = isOutlineHeldOut ? heldOut : training;
  return {
    name,
    ...(training.last !== undefined && { training: training.last }),
    ...(heldOut.last !== undefined && { heldOut: heldOut.last }),
    outline: drawn.outline(OUTLINE_POINTS),
    isOutlineHeldOut,
  };
}

/** On the same pairs as the critic's. */
function controlOf(
  { control }: RunHistory,
  stage: string,
  figure: FigureName,
): Pick<FigureView, 'untrained'> {
  const accuracy = control?.stage === stage && figure === 'accuracy' ? control.accuracy : undefined;
  return accuracy == null ? {} : { untrained: accuracy };
}

export function resultOf({ folder, state, role }: Run): RunView['result'] {
  if (state !== 'done') return 'none';
  const isPart = role === 'verifier' || role === 'refiner';
  if (isPart || !existsSync(path.join(folder, runFiles.model, 'onnx'))) return 'model';
  return role === 'collaborator' ? 'collaborator' : 'playable';
}
