import type { Selected } from './selection';

/**
 * `paper`: of each task that has a trajectory of reward 1, the first such one against every strictly lower one (the
 * critic's pairs of SWEET-RL). `successes`: each of reward 1 against every strictly lower one. `all`: every two
 * trajectories of a task of which one has the strictly higher reward.
 */
export const PAIRINGS = ['paper', 'successes', 'all'] as const;
export type Pairing = (typeof PAIRINGS)[number];

/** The trajectories of one task, and which of them stand against each other. */
export interface TaskPairs {
  readonly task: string;
  readonly pairs: readonly { readonly chosen: Selected; readonly rejected: Selected }[];
  /** Trajectories that are in no pair. */
  readonly unpaired: number;
}

/** Tasks in the order of their first trajectory; `selected` from the oldest to the newest. */
export function pairsByTask(selected: readonly Selected[], pairing: Pairing): TaskPairs[] {
  const byTask = Map.groupBy(selected, ({ summary }) => summary.taskId);
  return [...byTask].map(([task, trajectories]) => {
    const pairs = chosenOf(trajectories, pairing).flatMap((chosen) =>
      trajectories
        .filter((rejected) => rewardOf(rejected) < rewardOf(chosen))
        .map((rejected) => ({ chosen, rejected })),
    );
    const paired = new Set(pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]));
    return { task, pairs, unpaired: trajectories.length - paired.size };
  });
}

/** Which stand on the better side, wherever there is a lower one. */
function chosenOf(trajectories: readonly Selected[], pairing: Pairing): readonly Selected[] {
  if (pairing === 'all') return trajectories;
  const successes = trajectories.filter((trajectory) => rewardOf(trajectory) === 1);
  return pairing === 'paper' ? successes.slice(0, 1) : successes;
}

function rewardOf({ grade, summary }: Selected): number {
  if (grade) return grade.reward;
  throw new Error(`Trajectory ${summary.id} was selected for pairs without a reward.`);
}
