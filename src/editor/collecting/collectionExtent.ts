/** Per task: training learns from the difference between successes and failures. */
const ROLLOUTS = 4;

/** Where a dialogue costs time or money on a server; enough to see how the agent does. */
export const SUGGESTED_TASKS = 24;

export interface Extent<T> {
  readonly tasks: readonly T[];
  readonly rollouts: number;
}

/** Dialogues are given as `id#rollout`; those of removed tasks do not count. */
export function playedOf(all: readonly { readonly id: string }[], played: Iterable<string>): number {
  const ids = new Set(all.map(({ id }) => id));
  return [...played].filter((key) => ids.has(key.slice(0, key.lastIndexOf('#')))).length;
}

/** @param played each dialogue as `id#rollout` */
export function playedAmong(
  { tasks, rollouts }: Extent<{ readonly id: string }>,
  played: Iterable<string>,
): number {
  const ids = new Set(tasks.map(({ id }) => id));
  return [...played].filter((key) => {
    const end = key.lastIndexOf('#');
    return ids.has(key.slice(0, end)) && Number(key.slice(end + 1)) < rollouts;
  }).length;
}

/**
 * Adds more tasks while there are others, then more dialogues of each.
 * @param played each dialogue as `id#rollout`; those of removed tasks do not count
 * @param most maximum number of tasks added at once
 */
export function extentOf<T extends { readonly id: string }>(
  all: readonly T[],
  played: Iterable<string>,
  most: number,
): Extent<T> {
  const atOnce = ROLLOUTS * Math.min(most, all.length);
  const times = Math.floor(playedOf(all, played) / atOnce) + 1;
  const tasks = all.slice(0, most * times);
  return { tasks, rollouts: Math.ceil((atOnce * times) / tasks.length) };
}
