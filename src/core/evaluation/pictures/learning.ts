import type { FigureName } from '../../training/events';
import type { Curve, Curves, RunHistory } from '../../training/history/history';
import { percent } from '../words';
import { curvePicture, type ChartPanel, type DrawnCurve, type Point } from './curves';

/** More points of a curve would enlarge the file without being visible. */
const MAX_POINTS = 240;

interface NamedHistory {
  readonly name: string;
  readonly history: RunHistory;
}

/**
 * Loss, pair accuracy where there are pairs, success where it plays. One run has its training and what is held out,
 * several have a line each.
 */
export function learningPicture(stage: string, runs: readonly NamedHistory[]): string {
  const trained = runs.filter(({ history }) => history.trained.includes(stage));
  const isAlone = runs.length === 1;
  const drawn = (figure: FigureName, which: keyof Curves): DrawnCurve[] =>
    trained.flatMap(({ name, history }) => {
      const points = pointsOf(history.curves(stage, figure)?.[which]);
      if (points.length === 0) return [];
      const isNoisy = which === 'training';
      return [{ name: isAlone ? (isNoisy ? 'training' : 'held out') : name, points, isNoisy }];
    });
  const measured = drawn('accuracy', 'heldOut');
  const isMeasured = !isAlone && measured.length > 0;
  const panels: ChartPanel[] = [
    {
      title: 'loss',
      curves: [...drawn('loss', 'training'), ...(isAlone ? drawn('loss', 'heldOut') : [])],
      format: (value) => value.toFixed(2),
    },
    {
      title: isMeasured ? 'pairs in the right order, held out' : 'pairs in the right order',
      curves: isMeasured ? measured : [...drawn('accuracy', 'training'), ...measured],
      ...{ format: whole, most: 1, line: { at: 0.5, name: 'chance' } },
    },
    {
      title: 'success of the dialogues that are played',
      ...{ curves: drawn('success', 'training'), format: whole, most: 1 },
    },
  ];
  const accuracy = isAlone ? runs[0]!.history.bestLook(stage)?.accuracy : undefined;
  return curvePicture({
    title: isAlone ? `How the ${stage} learned` : stage,
    subtitle:
      accuracy == null ? '' : `held out, at its best: ${percent(accuracy)} of pairs in the right order`,
    panels: panels.filter(({ curves }) => curves.length > 0),
  });
}

const whole = (value: number): string => `${Math.round(100 * value)} %`;

function pointsOf(curve: Curve | undefined): Point[] {
  const buckets = curve?.all ?? [];
  const each = Math.max(1, Math.ceil(buckets.length / MAX_POINTS));
  const points: Point[] = [];
  for (let start = 0; start < buckets.length; start += each) {
    const some = buckets.slice(start, start + each);
    const total = (field: 'sum' | 'count'): number => some.reduce((all, bucket) => all + bucket[field], 0);
    points.push([some.at(-1)!.to, total('sum') / total('count')]);
  }
  return points;
}
