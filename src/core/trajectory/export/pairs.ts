import type { Selected } from './selection';

/**
 * Ways to pair trajectories of one task. `paper`: the first one with reward 1 against every one with a lower reward
 * (the critic's pairs of SWEET-RL). `successes`: each one with reward 1 against every lower one. `all`: every two with
 * different rewards.
 */
export const PAIRINGS = ['paper', 'successes', 'all'] as const;
export type Pairing = (typeof PAIRINGS)[number];

interface TaskPairs {
  readonly task: string;
  readonly pairs: readonly { readonly chosen: Selected; readonly rejected: Selected }[];
  readonly unpaired: number;
}

/** In the order of the first trajectory of each task; `selected` must be sorted from oldest to newest. */
export function pairsByTask(selected: readonly Selected[], pairing: Pairing): TaskPairs[] {
  const byTask = Map.groupBy(selected, ({ summary }) => summary.taskId);
  return [...byTask].map(([task, trajectories]) => {
    const all = chosenOf(trajectories, pairing);
    // Each reward is compared once: thousands of rollouts of a task may all have the same.
    const lower = new Map(
      [...new Set(all.map(rewardOf))].map((reward) => [
        reward,
        trajectories.filter((one) => rewardOf(one) < reward),
      ]),
    );
    const pairs = all.flatMap((chosen) =>
      (lower.get(rewardOf(chosen)) ?? []).map((rejected) => ({ chosen, rejected })),
    );
    const paired = new Set(pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]));
    return { task, pairs, unpaired: trajectories.length - paired.size };
  });
}

function chosenOf(trajectories: readonly Selected[], pairing: Pairing): readonly Selected[] {
  if (pairing === 'all') return trajectories;
  const successes = trajectories.filter((trajectory) => rewardOf(trajectory) === 1);
  return pairing === 'paper' ? successes.slice(0, 1) : successes;
}

function rewardOf({ grade, summary }: Selected): number {
  if (grade) return grade.reward;
  throw new Error(`Trajectory ${summary.id} was selected for pairs without a reward.`);
}
