import type { ReadCurves, RunHistory } from '../../core/training/history/history';
import type { Run } from '../../core/training/runs';
import { chartKey, type ChartName, type CurvePart, type CurvesView } from '../../../webview/chart/protocol';

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
