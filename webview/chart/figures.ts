import { t } from '../language';
import { decimal, grouped } from '../language/numbers';
import type { FigureName } from './protocol';

export interface FigureStyle {
  readonly title: string;
  readonly note: string;
  readonly format: (value: number) => string;
  /** Ends of the axis; absent when the values have no bound. */
  readonly least?: number;
  readonly most?: number;
}

/** A figure with an upper bound, such as a share, needs no logarithmic axis. */
export const canBeLogarithmic = ({ most }: FigureStyle): boolean => most === undefined;

const percent = (value: number): string => t('{0} %', decimal(100 * value, 1));

/** Three significant digits, three decimals below 1, whole numbers from 1,000 on, exponents below 0.001. */
export function plain(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1000) return grouped(Math.round(value));
  if (size < 1e-3) return value.toExponential(1);
  return decimal(value, Math.max(0, 3 - Math.max(0, Math.floor(Math.log10(size)) + 1)));
}

export const figures: Readonly<Record<FigureName, FigureStyle>> = {
  accuracy: {
    title: t('Pair accuracy'),
    note: t('Share of pairs ranked correctly (chance 50 %)'),
    format: percent,
    least: 0,
    most: 1,
  },
  success: {
    title: t('Success rate'),
    note: t('Share of the dialogues whose answer passes all hidden tests'),
    format: percent,
    least: 0,
    most: 1,
  },
  reward: {
    title: t('Reward'),
    note: t('Mean over the dialogues of a step'),
    format: plain,
    least: 0,
    most: 1,
  },
  leaked: {
    title: t('Leaked dialogues'),
    note: t('Share of the dialogues in which a reply gave the reference away, replays included'),
    format: percent,
    least: 0,
    most: 1,
  },
  loss: {
    title: t('Loss'),
    note: t('The quantity that training minimizes; mean over a batch'),
    format: plain,
  },
  margin: {
    title: t('Margin'),
    note: t('Score of the better side of a pair minus that of the worse side, in log-probability'),
    format: plain,
  },
  kl: {
    title: t('KL divergence'),
    note: t('How far the model has moved from the reference model'),
    format: plain,
  },
  nll: {
    title: t('Negative log-likelihood'),
    note: t('Of the better side; lower means more likely'),
    format: plain,
  },
  log_ratio_chosen: {
    title: t('Log-ratio, chosen'),
    note: t('Log-probability of the better side minus that under the reference model'),
    format: plain,
  },
  log_ratio_rejected: {
    title: t('Log-ratio, rejected'),
    note: t('Log-probability of the worse side minus that under the reference model'),
    format: plain,
  },
  gradient_norm: { title: t('Gradient norm'), note: t('Before it is clipped'), format: plain },
  learning_rate: {
    title: t('Learning rate'),
    note: t('Warm-up, then cosine decay to a tenth; constant with GRPO'),
    format: plain,
  },
  tokens_per_second: {
    title: t('Tokens/s'),
    note: t('Tokens processed in a step, divided by its duration'),
    format: (value) => grouped(Math.round(value)),
    least: 0,
  },
  memory_mb: {
    title: t('Memory'),
    note: t('Peak memory: on a GPU since the previous step, on the CPU since the start'),
    format: (value) =>
      value < 1024 ? t('{0} MB', grouped(Math.round(value))) : t('{0} GB', decimal(value / 1024, 1)),
    least: 0,
  },
  gpu_use: {
    title: t('GPU utilization'),
    note: t('Share of the time in which the GPU was busy'),
    format: percent,
    least: 0,
    most: 1,
  },
  mfu: {
    title: t('Model FLOPs utilization (MFU)'),
    note: t('Share of the device’s peak FLOPs'),
    format: percent,
    least: 0,
  },
  sampler_difference: {
    title: t('Sampler difference'),
    note: t('Difference between log-probabilities in sampling and in training; near zero when both agree'),
    format: plain,
    least: 0,
  },
  entropy: {
    title: t('Entropy'),
    note: t('Of the agent’s tokens, in nats; near zero when the model always writes the same'),
    format: plain,
    least: 0,
  },
  waiting: {
    title: t('Waiting for the environment'),
    note: t('Share of the time in which the developer’s replies and the grades were awaited'),
    format: percent,
    least: 0,
    most: 1,
  },
};
