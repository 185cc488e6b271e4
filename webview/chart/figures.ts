import { t } from '../language';
import { decimal, grouped } from '../language/numbers';
import type { FigureName } from './protocol';

/** How a figure is called, and how its values are written. */
export interface Figure {
  readonly title: string;
  readonly note: string;
  readonly format: (value: number) => string;
  /** Ends of the axis, where values have them. */
  readonly least?: number;
  readonly most?: number;
}

const percent = (value: number): string => t('{0} %', decimal(100 * value, 1));

/** Four digits that count. */
export function plain(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1000) return grouped(Math.round(value));
  if (size < 1e-3) return value.toExponential(1);
  return decimal(value, Math.max(0, 3 - Math.max(0, Math.floor(Math.log10(size)) + 1)));
}

export const figures: Readonly<Record<FigureName, Figure>> = {
  accuracy: {
    title: t('Pair accuracy'),
    note: t('Share of pairs ranked correctly (chance 50 %)'),
    format: percent,
    least: 0,
    most: 1,
  },
  loss: { title: t('Loss'), note: t('What is made smaller; the mean over a batch'), format: plain },
  margin: {
    title: t('Margin'),
    note: t('By how much the better side of a pair is ahead, in log-probability'),
    format: plain,
  },
  kl: { title: t('KL divergence'), note: t('How far the model has moved from its start'), format: plain },
  nll: {
    title: t('Negative log-likelihood'),
    note: t('Of the better side; lower is likelier'),
    format: plain,
  },
  log_ratio_chosen: {
    title: t('Log-ratio, chosen'),
    note: t('How much likelier the better side is than at the start'),
    format: plain,
  },
  log_ratio_rejected: {
    title: t('Log-ratio, rejected'),
    note: t('How much likelier the worse side is than at the start'),
    format: plain,
  },
  gradient_norm: { title: t('Gradient norm'), note: t('Before it is clipped'), format: plain },
  learning_rate: {
    title: t('Learning rate'),
    note: t('Warm-up, then a cosine down to a tenth'),
    format: plain,
  },
  tokens_per_second: {
    title: t('Tokens/s'),
    note: t('Tokens that were computed for one step, by its time'),
    format: (value) => grouped(Math.round(value)),
    least: 0,
  },
  memory_mb: {
    title: t('Memory'),
    note: t('The most that was in use: of a GPU since the step before, of the processor since the start'),
    format: (value) =>
      value < 1024 ? t('{0} MB', grouped(Math.round(value))) : t('{0} GB', decimal(value / 1024, 1)),
    least: 0,
  },
  gpu_use: {
    title: t('GPU use'),
    note: t('Part of the time in which the GPU computed anything'),
    format: percent,
    least: 0,
    most: 1,
  },
  mfu: {
    title: t('Model FLOPs use'),
    note: t('Of the arithmetic that the device can do at its best (MFU)'),
    format: percent,
    least: 0,
  },
  sampler_difference: {
    title: t('Sampler difference'),
    note: t('Between the log-probabilities of sampling and of training; near zero when both agree'),
    format: plain,
    least: 0,
  },
};
