import * as z from 'zod';
import * as vscode from 'vscode';
import { lazily } from '../../core/lazily';
import { figureNames } from '../../core/training/events';
import { type ChartName, chartKey, type CurvePart, type CurvesView } from '../../../webview/chart/protocol';
import type { Memory } from '../consent';
import { recall } from '../recall';
import type { ReadCurves, RunHistory } from '../../core/training/history/history';
import type { Run } from '../../core/training/runs';

const KEY = 'tandem.pinnedCharts';
/** The oldest chart is dropped. */
const MAX_REMEMBERED = 24;

const pinnedSchema = lazily(() => z.array(z.object({ stage: z.string(), figure: z.enum(figureNames) })));

/** Pinned charts of all runs and comparisons of the workspace, in the order of pinning. */
export class PinnedCharts {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly memory: Memory) {}

  get all(): readonly ChartName[] {
    return recall(this.memory, KEY, pinnedSchema) ?? [];
  }

  async pin({ stage, figure }: ChartName, isPinned: boolean): Promise<void> {
    const others = this.all.filter((one) => one.stage !== stage || one.figure !== figure);
    const next = isPinned ? [...others, { stage, figure }].slice(-MAX_REMEMBERED) : others;
    await this.memory.update(KEY, next);
    this.changed.fire();
  }

  dispose(): void {
    this.changed.dispose();
  }
}

/** Read positions of each chart and its runs; undefined for a run without this figure. */
export type ReadCharts = Map<string, readonly (ReadCurves | undefined)[]>;

/**
 * New points of the chosen chart and the pinned ones; undefined when there are none. Updates `read`, the positions that
 * the page has.
 */
export function curvesView(
  runs: readonly { readonly run: Pick<Run, 'id'>; readonly history: RunHistory }[],
  { stage, figure, pinned }: ChartName & { readonly pinned: readonly ChartName[] },
  read: ReadCharts,
): CurvesView | undefined {
  const ids = runs.map(({ run }) => run.id);
  const shown = new Map([{ stage, figure }, ...pinned].map((chart) => [chartKey(chart), chart]));
  const charts = [...shown].flatMap(([name, chart]) => {
    // Without one of its runs, the curves of a chart are others.
    const key = [name, ...ids].join(' ');
    const known = read.get(key);
    const news = runs.map(({ history }, index) =>
      history.curvesSince(chart.stage, chart.figure, known?.[index]),
    );
    const marks = news.map((one) => one?.read);
    if (JSON.stringify(marks) === JSON.stringify(known)) return [];
    read.set(key, marks);
    const curves = news.map((one) => ({
      training: one?.training ?? NOTHING,
      heldOut: one?.heldOut ?? NOTHING,
    }));
    return [{ stage: chart.stage, figure: chart.figure, curves }];
  });
  return charts.length === 0 ? undefined : { type: 'curves', charts };
}

const NOTHING: CurvePart = { from: 0, points: [], valuesPerPoint: 1 };
