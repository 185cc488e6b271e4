import { isObject } from '../json';

/** Settings that a method does not read, by path; a path stands for all below it. */
const UNUSED: Readonly<Record<string, readonly string[]>> = {
  'sweet-rl': ['policy.minimum_reward', 'grpo'],
  rft: ['critic', 'candidates', 'policy.beta', 'policy.nll', 'grpo'],
  'multiturn-dpo': ['critic', 'candidates', 'policy.minimum_reward', 'grpo'],
  grpo: [
    ...['critic', 'candidates', 'policy'],
    ...['data.pairing', 'data.pair_margin', 'data.measure', 'data.renderer'],
    ...['data.preference_weight', 'data.with_leaked', 'data.with_doubtful'],
  ],
};

/** True also for a method that is not known here. */
export const isUsedBy = (method: string, path: string): boolean =>
  !(UNUSED[method] ?? []).some((unused) => path === unused || path.startsWith(`${unused}.`));

export function usedSettings<Configuration>(configuration: Configuration): Configuration {
  const method = methodIn(configuration);
  const part = (value: unknown, at: string): unknown =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([name, inside]) => {
            const path = at === '' ? name : `${at}.${name}`;
            return isUsedBy(method, path) ? [[name, part(inside, path)]] : [];
          }),
        )
      : value;
  return part(configuration, '') as Configuration;
}

/** The schema's default where it is not given. */
export const methodIn = (configuration: unknown): string =>
  isObject(configuration) && typeof configuration.method === 'string' ? configuration.method : 'sweet-rl';
