import { isDone, type Attempt } from './attemptFile';
import type { Method, Setting } from './plan';

/** Result of one setting on the development split. */
interface Tried {
  readonly setting: Setting;
  /** Success at temperature 1 for each seed; null where the attempt failed. */
  readonly bySeed: readonly (number | null)[];
  /** Mean over seeds; null when a seed failed, because a setting that may fail is not chosen. */
  readonly success: number | null;
}

/** The settings of one method and the best one, which is undefined when all failed. */
export interface Choice {
  readonly method: Method;
  readonly tried: readonly Tried[];
  readonly chosen: Setting | undefined;
}

/** Chooses the setting with the highest success at temperature 1; the first one of equals. */
export function choiceOf(method: Method, settings: readonly Setting[], attempts: readonly Attempt[]): Choice {
  const tried = settings.map((setting) => {
    const own = attempts.filter((one) => one.method === method.name && one.setting === setting.name);
    const bySeed = own.map((one) => (isDone(one) ? one.sampled.figures.success!.mean : null));
    const known = bySeed.filter((value) => value !== null);
    const whole = known.length > 0 && known.length === bySeed.length;
    return {
      setting,
      bySeed,
      success: whole ? known.reduce((sum, one) => sum + one, 0) / known.length : null,
    };
  });
  const best = tried.reduce<Tried | undefined>(
    (before, one) => ((one.success ?? -1) > (before?.success ?? -1) ? one : before),
    undefined,
  );
  return { method, tried, chosen: best?.setting };
}
