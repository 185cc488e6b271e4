/** Enough for a first run, and what is added each time: tasks, and dialogues of each, of which some succeed and some do not. */
const TASKS = 24;
const ROLLOUTS = 4;

/** What is played: these tasks, so many dialogues of each. */
export interface Extent<T> {
  readonly tasks: readonly T[];
  readonly rollouts: number;
}

/** How many of the dialogues are about tasks that are there. @param played each dialogue as `id#rollout` */
export function playedOf(all: readonly { readonly id: string }[], played: Iterable<string>): number {
  const ids = new Set(all.map(({ id }) => id));
  return [...played].filter((key) => ids.has(key.slice(0, key.lastIndexOf('#')))).length;
}

/**
 * More tasks than were played so far while there are others, then more dialogues of each.
 * @param all that can be played
 * @param played each dialogue as `id#rollout`; those of tasks that are gone do not count
 */
export function extentOf<T extends { readonly id: string }>(
  all: readonly T[],
  played: Iterable<string>,
): Extent<T> {
  const times = Math.floor(playedOf(all, played) / (TASKS * ROLLOUTS)) + 1;
  const tasks = all.slice(0, TASKS * times);
  return { tasks, rollouts: Math.ceil((TASKS * ROLLOUTS * times) / tasks.length) };
}
