import { csv } from '../saving/csv';
import type { RunCurves } from './curves';
import { figures } from './figures';
import type { FigureName } from './protocol';

const NAMES = ['run', 'stage', 'metric', 'unit', 'measured_on', 'step', 'training_seconds', 'steps_averaged'];
const VALUES = ['mean', 'lowest', 'highest'];

/**
 * Writes the curves of a figure as CSV with a row for each point, which programs for data read as they are. The names
 * are those of the trainer's events, in every display language, and no value is smoothed.
 */
export function curvesCsv(
  stage: string,
  figure: FigureName,
  runs: readonly (RunCurves & { readonly run: string })[],
): string {
  const rows = runs.flatMap(({ run, training, heldOut }) =>
    [
      { of: 'training', ...training },
      { of: 'held-out', ...heldOut },
    ].flatMap(({ of, points, valuesPerPoint }) =>
      points.map(({ step, seconds, mean, low, high }) => [
        ...[run, stage, figure, figures[figure].unit, of, step, seconds, valuesPerPoint],
        ...[mean, low, high],
      ]),
    ),
  );
  return csv([...NAMES, ...VALUES], rows);
}
