import type { Selected } from './selection';

/**
 * Ways to pair trajectories of one task. `paper`: the first one with reward 1 against every one with a lower reward
 * (the critic's pairs of SWEET-RL); of a web page, whose score is seldom 1, every two. `successes`: each one with
 * reward 1 against every lower one. `all`: every two with different rewards.
 */
export const PAIRINGS = ['paper', 'successes', 'all'] as const;
export type Pairing = (typeof PAIRINGS)[number];

interface TaskPairs {
  readonly task: string;
  readonly pairs: readonly { readonly chosen: Selected; readonly rejected: Selected }[];
  readonly unpaired: number;
}

/** Of the paper's pairs of pages (arXiv 2503.15478, appendix). */
const PAGE_MARGIN = 0.1;
/** 0.7 − 0.6 is a little less than 0.1. */
const ROUNDING = 1e-9;

export interface PairOptions {
  readonly pairing: Pairing;
  /** Least difference of two rewards; by default 0.1 for pages, and any difference for functions. */
  readonly margin?: number;
  readonly isPage: (task: string) => boolean;
}

/**
 * In the order of the first trajectory of each task; `selected` must be sorted from oldest to newest. The trainer pairs
 * alike (`trainer/tandem_trainer/data/pairs.py`).
 */
export function pairsByTask(selected: readonly Selected[], options: PairOptions): TaskPairs[] {
  const byTask = Map.groupBy(selected, ({ summary }) => summary.taskId);
  return [...byTask].map(([task, trajectories]) => {
    const isPage = options.isPage(task);
    const margin = options.margin ?? (isPage ? PAGE_MARGIN : 0);
    const all = chosenOf(trajectories, isPage && options.pairing === 'paper' ? 'all' : options.pairing);
    // Each reward is compared once: thousands of rollouts of a task may all have the same.
    const lower = new Map(
      [...new Set(all.map(rewardOf))].map((reward) => [
        reward,
        trajectories.filter((one) => rewardOf(one) < reward && reward - rewardOf(one) >= margin - ROUNDING),
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
