/** Enough for a first run, and what is added each time: tasks, and dialogues of each, of which some succeed and some do not. */
const TASKS = 24;
const ROLLOUTS = 4;

/**
 * More tasks than were played so far while there are others, then more dialogues of each.
 * @param all that can be played
 * @param played each dialogue as `id#rollout`; those of tasks that are gone do not count
 */
export function extentOf<T extends { readonly id: string }>(
  all: readonly T[],
  played: Iterable<string>,
): { readonly tasks: readonly T[]; readonly rollouts: number } {
  const ids = new Set(all.map(({ id }) => id));
  const count = [...played].filter((key) => ids.has(key.slice(0, key.lastIndexOf('#')))).length;
  const times = Math.floor(count / (TASKS * ROLLOUTS)) + 1;
  const tasks = all.slice(0, TASKS * times);
  return { tasks, rollouts: Math.ceil((TASKS * ROLLOUTS * times) / tasks.length) };
}
