import { GOOD_ABOVE, pathOf, ROLES, valueOf, type Role } from '../searchTree';
import type { TrajectorySummary } from '../trajectory';
import type { ChatMessageLike, Rendered } from './rows';
import type { Pairing, Selected } from './selection';

/** Of the paper's pairs of pages (arXiv 2503.15478, appendix). */
const PAGE_MARGIN = 0.1;
/** 0.7 − 0.6 is a little less than 0.1. */
const ROUNDING = 1e-9;

interface PairOptions {
  readonly pairing: Pairing;
  /** Least difference of two rewards; by default 0.1 for pages, and any difference for functions. */
  readonly margin?: number;
  readonly isPage: boolean;
}

type Rewarded = Selected | Rendered;

interface Pairs<One> {
  readonly pairs: readonly { readonly chosen: One; readonly rejected: One }[];
  readonly unpaired: number;
}

/**
 * Pairs the trajectories of one task, which are sorted from oldest to newest. A fork is paired with its parent only: in
 * another pair, turns that it shares with the parent would count twice. The trainer pairs alike
 * (`trainer/tandem_trainer/data/pairs.py`).
 */
export function pairsOf<One extends Rewarded>(every: readonly One[], options: PairOptions): Pairs<One> {
  const { pairing, isPage, margin = isPage ? PAGE_MARGIN : 0 } = options;
  const all = every.filter((one) => originOf(one).parent === undefined);
  const better = chosenOf(all, isPage && pairing === 'paper' ? 'all' : pairing);
  // Each reward is compared once: thousands of rollouts of a task may all have the same.
  const lower = new Map(
    [...new Set(better.map(rewardOf))].map((reward) => [
      reward,
      all.filter((one) => rewardOf(one) < reward && reward - rewardOf(one) >= margin - ROUNDING),
    ]),
  );
  const pairs: Pairs<One>['pairs'] = [
    ...better.flatMap((chosen) => lower.get(rewardOf(chosen))!.map((rejected) => ({ chosen, rejected }))),
    ...forkPairs<One>(every).filter(
      ({ chosen, rejected }) =>
        (isPage || pairing === 'all' || rewardOf(chosen) === 1) &&
        rewardOf(chosen) > rewardOf(rejected) &&
        rewardOf(chosen) - rewardOf(rejected) >= margin - ROUNDING,
    ),
  ];
  const paired = new Set(pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]));
  return { pairs, unpaired: every.length - paired.size };
}

/** Each fork that parts from its parent at a message of the agent, and the parent; the better one is chosen. */
function forkPairs<One extends Rewarded>(all: readonly One[]): Pairs<One>['pairs'] {
  const byId = new Map(all.map((one) => [originOf(one).id, one]));
  return all.flatMap((fork) => {
    const { parent } = originOf(fork);
    const other = parent?.by === 'message' ? byId.get(parent.id) : undefined;
    if (other === undefined) return [];
    const [chosen, rejected]: readonly [One, One] =
      rewardOf(fork) > rewardOf(other) ? [fork, other] : [other, fork];
    return [{ chosen, rejected }];
  });
}

const originOf = (one: Rewarded): Pick<TrajectorySummary, 'id' | 'parent'> =>
  'summary' in one ? one.summary : { id: one.trajectory.id, parent: one.trajectory.started.parent };

function chosenOf<One extends Rewarded>(all: readonly One[], pairing: Pairing): readonly One[] {
  if (pairing === 'all') return all;
  const successes = all.filter((one) => rewardOf(one) === 1);
  return pairing === 'paper' ? successes.slice(0, 1) : successes;
}

/** Only graded trajectories are selected for pairs. */
const rewardOf = ({ grade }: Rewarded): number => grade!.reward;

interface RoleOutput {
  readonly prompt: readonly ChatMessageLike[];
  readonly text: string;
  /** V of its node. */
  readonly value: number;
  readonly from: Rendered;
}

export interface RolePair {
  readonly chosen: RoleOutput;
  readonly rejected: RoleOutput;
}

/**
 * Pairs every good with every bad output of a role after the same messages (arXiv 2412.01928): siblings in the tree.
 * @param endings of one tree, with what the role read and said as their messages
 */
export function rolePairs(role: Role, endings: readonly Rendered[], branches: number): readonly RolePair[] {
  const leaves = endings.map((from) => ({
    from,
    path: pathOf(from.trajectory.started.rollout ?? 0, branches),
    success: from.grade?.success === true,
  }));
  const depth = ROLES.indexOf(role) + 1;
  const spoken = leaves.filter(({ from }) => from.messages.length > 0);
  const nodes = Map.groupBy(spoken, ({ path }) => path.slice(0, depth).join());
  const outputs = [...nodes.values()].map(([first]) => {
    const { from, path } = first!;
    const [prompt, text] = [from.messages.slice(0, -1), from.messages.at(-1)!.content];
    const value = valueOf(leaves, path.slice(0, depth));
    return { prompt, text, value, from, siblings: JSON.stringify([path.slice(0, depth - 1), prompt]) };
  });
  return [...Map.groupBy(outputs, ({ siblings }) => siblings).values()].flatMap((siblings) => {
    const bad = siblings.filter(({ value }) => value <= GOOD_ABOVE);
    return siblings
      .filter(({ value }) => value > GOOD_ABOVE)
      .flatMap((chosen) => bad.map((rejected) => ({ chosen, rejected })))
      .filter(({ chosen, rejected }) => chosen.text !== rejected.text);
  });
}

/** `role` keeps these rows out of runs that train the agent or another role. */
export function rolePairRow(role: Role, { chosen, rejected }: RolePair): object {
  return {
    prompt: chosen.prompt,
    chosen: [says(chosen)],
    rejected: [says(rejected)],
    tandem: {
      task: chosen.from.trajectory.task.id,
      role,
      chosen: { episode: chosen.from.trajectory.id, value: chosen.value },
      rejected: { episode: rejected.from.trajectory.id, value: rejected.value },
    },
  };
}

const says = ({ text }: RoleOutput): ChatMessageLike => ({ role: 'assistant', content: text });
