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
  if (latest === undefined || after == null) return t('Not evaluated yet.');
  const tasks = grouped(latest.setting.tasks);
  const before = latest.rows.find(({ run }) => run === undefined)?.figures.success;
  if (before == null) return t('Success {0} % on {1} held-out tasks.', whole(after.mean), tasks);
  const { interval = null } = measured?.againstStart?.success ?? {};
  const change = t(
    'Success {0} % → {1} % on {2} held-out tasks',
    whole(before.mean),
    whole(after.mean),
    tasks,
  );
  if (interval === null) return t('{0}.', change);
  const range = t('{0} to {1}', signed(interval.low), signed(interval.high));
  const by = pointsBetween(before.mean, after.mean);
  return t('{0}, {1} points vs. the base model (95 % interval {2}).', change, by, range);
}

/** The same behind the name of a run: `22 → 48 %, +26 points`; undefined where its model was not measured. */
export function resultInShort({ model, start }: Kept, t: Translate): string | undefined {
  const after = model.figures.success;
  if (after === null) return undefined;
  const before = start?.figures.success ?? null;
  if (before === null) return t('{0} % success', whole(after.mean));
  return t(
    '{0} → {1} %, {2} points',
    whole(before.mean),
    whole(after.mean),
    pointsBetween(before.mean, after.mean),
  );
}

/** The difference of two success rates as they are shown, in whole percents, so that the three add up. */
export const pointsBetween = (before: number, after: number): string =>
  signed((Math.round(100 * after) - Math.round(100 * before)) / 100);

const whole = (fraction: number): string => (100 * fraction).toFixed(0);

/** `+17` or `−3`: percentage points of a difference between fractions. */
export function signed(difference: number): string {
  const points = whole(Math.abs(difference));
  return points === '0' ? '0' : `${difference < 0 ? '−' : '+'}${points}`;
}
