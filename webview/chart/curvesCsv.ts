import { csv } from '../saving/csv';
import type { RunCurves } from './curves';
import type { FigureName } from './protocol';

/** Units of the figures that have one, as tables of numbers name them; a fraction is 0 to 1. */
const units: Readonly<Partial<Record<FigureName, string>>> = {
  accuracy: 'fraction',
  success: 'fraction',
  reward: 'fraction',
  margin: 'nats',
  kl: 'nats',
  nll: 'nats',
  log_ratio_chosen: 'nats',
  log_ratio_rejected: 'nats',
  tokens_per_second: 'tokens/s',
  memory_mb: 'MB',
  gpu_use: 'fraction',
  mfu: 'fraction',
  sampler_difference: 'nats',
  entropy: 'nats',
  waiting: 'fraction',
};

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
        ...[run, stage, figure, units[figure], of, step, seconds, valuesPerPoint],
        ...[mean, low, high],
      ]),
    ),
  );
  return csv([...NAMES, ...VALUES], rows);
}
