/** Dialogues of each task: of several some succeed and some do not, and training learns from the difference. */
const ROLLOUTS = 4;

/** So many tasks are suggested where a dialogue costs time or money on a server: enough to see how the agent does. */
export const FEW_TASKS = 24;

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
 * @param most tasks that are added at once
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
