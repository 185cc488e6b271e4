import type { Kept } from '../../core/loop/kept';
import { standingsOf } from '../../core/experiment/standings';
import type { Translate } from '../translate';
import { grouped } from './words';

/**
 * How a run's model does on tasks that it never saw, against the model that it began with: the last time that was measured.
 * @param kept its evaluations
 */
export function measuredWords(kept: readonly Kept[], t: Translate): string {
  const [latest] = standingsOf([kept]);
  const measured = latest?.rows.find(({ run }) => run !== undefined);
  const after = measured?.figures.success;
  if (latest === undefined || after == null)
    return t('Not evaluated yet. Evaluate it on held-out tasks: choose Compare.');
  const tasks = grouped(latest.setting.tasks);
  const before = latest.rows.find(({ run }) => run === undefined)?.figures.success;
  if (before == null) return t('Success {0} % on {1} held-out tasks.', whole(after.mean), tasks);
  const { difference = null, interval = null } = measured?.againstStart?.success ?? {};
  const change = t(
    'Success {0} % → {1} % on {2} held-out tasks',
    whole(before.mean),
    whole(after.mean),
    tasks,
  );
  if (difference === null || interval === null) return t('{0}.', change);
  const range = t('{0} to {1}', signed(interval.low), signed(interval.high));
  return t('{0}, {1} points vs. the base model (95 % interval {2}).', change, signed(difference), range);
}

const whole = (fraction: number): string => (100 * fraction).toFixed(0);

/** `+17` or `−3`: percentage points of a difference between fractions. */
export function signed(difference: number): string {
  const points = whole(Math.abs(difference));
  return points === '0' ? '0' : `${difference < 0 ? '−' : '+'}${points}`;
}
