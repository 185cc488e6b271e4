/**
 * Pictures of a report, as SVG. They need a charting library, so the extension host has them in a file of its own
 * (`esbuild.js`), which is loaded only when a report is written.
 */
import { percent } from '../../words';
import { barPicture } from '../../pictures/bars';
import { curvePicture, type DrawnCurve as Drawn, type ChartPanel, type Point } from '../../pictures/curves';
import type { Curve, Curves, RunHistory } from '../../../training/history/history';
import type { MeasuredRuns } from '../measuredRuns';

/** Maximum number of points of a curve; more would enlarge the file, and nobody would see them. */
const MOST_POINTS = 240;

export interface Named {
  readonly name: string;
  readonly history: RunHistory;
}

/** Draws how a stage learned in each run that has it: the loss, pair accuracy where there are pairs, success where it plays. */
export function learningPicture(stage: string, runs: readonly Named[]): string {
  const trained = runs.filter(({ history }) => history.trained.includes(stage));
  const drawn = (figure: 'loss' | 'accuracy' | 'success', which: keyof Curves): Drawn[] =>
    trained.flatMap(({ name, history }) => {
      const points = pointsOf(history.curves(stage, figure)?.[which]);
      return points.length === 0 ? [] : [{ name, points, isNoisy: which === 'training' }];
    });
  const measured = drawn('accuracy', 'heldOut');
  const panels: ChartPanel[] = [
    { title: 'loss', curves: drawn('loss', 'training'), format: (value) => value.toFixed(2) },
    {
      title: measured.length > 0 ? 'pairs in the right order, held out' : 'pairs in the right order',
      curves: measured.length > 0 ? measured : drawn('accuracy', 'training'),
      format: (value) => `${Math.round(100 * value)} %`,
      most: 1,
      line: { at: 0.5, name: 'chance' },
    },
    {
      title: 'success of the dialogues that are played',
      curves: drawn('success', 'training'),
      format: (value) => `${Math.round(100 * value)} %`,
      most: 1,
    },
  ];
  return curvePicture({
    title: stage,
    panels: panels.filter(({ curves }) => curves.length > 0),
  });
}

function pointsOf(curve: Curve | undefined): Point[] {
  const buckets = curve?.all ?? [];
  const each = Math.max(1, Math.ceil(buckets.length / MOST_POINTS));
  const points: Point[] = [];
  for (let start = 0; start < buckets.length; start += each) {
    const some = buckets.slice(start, start + each);
    const total = (field: 'sum' | 'count'): number => some.reduce((all, bucket) => all + bucket[field], 0);
    points.push([some.at(-1)!.to, total('sum') / total('count')]);
  }
  return points;
}

/** Draws success on held-out tasks with its intervals. @param names names of the runs */
export function successPicture({ rows, setting }: MeasuredRuns, names: readonly string[]): string {
  return barPicture({
    title: 'Success on held-out tasks',
    subtitle: `${setting.title}, ${setting.tasks} tasks; the lines are 95 % intervals`,
    categories: rows.map(({ run, figures }) => (run === undefined ? `start: ${figures.agent}` : names[run]!)),
    series: [
      {
        name: 'success',
        bars: rows.map(({ figures: { success } }) =>
          success === null ? null : { value: success.mean, interval: success.interval },
        ),
      },
    ],
    format: percent,
  });
}
