/**
 * Roles of an agent in the order in which they speak, each of which branches in a search tree (MALT, arXiv 2412.01928).
 * An ending of the tree is a dialogue of a collection; the digits of its rollout name its branches, the generator's
 * first.
 */
export const ROLES = ['generator', 'verifier', 'refiner'] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (name: unknown): name is Role => ROLES.some((role) => role === name);

export const MAX_BRANCHES = 9;

/** Purpose of a collection of trees, with which its name begins. */
export const treePurpose = (branches: number): string => `tree${branches}`;

/** Branches of each role in a collection of trees; undefined for another collection. */
export function branchesIn(collection = ''): number | undefined {
  const [, branches] = /^tree([2-9])-/.exec(collection) ?? [];
  return branches === undefined ? undefined : Number(branches);
}

export const endingsOf = (branches: number): number => branches ** ROLES.length;

/** One branch for each role, from 0. */
export const pathOf = (rollout: number, branches: number): readonly number[] =>
  ROLES.map((_, depth) => Math.floor(rollout / branches ** (ROLES.length - 1 - depth)) % branches);

/** The role that an ending branches at, and the rollout with the turns before; undefined for the first ending. */
export function branchingOf(
  rollout: number,
  branches: number,
): { readonly role: Role; readonly from: number } | undefined {
  const path = pathOf(rollout, branches);
  const depth = path.findLastIndex((branch) => branch > 0);
  if (depth === -1) return undefined;
  return { role: ROLES[depth]!, from: rollout - path[depth]! * branches ** (ROLES.length - 1 - depth) };
}

export interface Ending {
  readonly path: readonly number[];
  readonly success: boolean;
}

/**
 * Value of a node from the leaves up, 0 to 1: V(leaf) = success, V(node) = mean of V over its children (arXiv
 * 2412.01928). A path that no role took further is a leaf.
 * @param endings at least one of which passes through the node
 * @param node its path from the root, which is empty
 */
export function valueOf(endings: readonly Ending[], node: readonly number[]): number {
  const below = endings.filter(({ path }) => node.every((branch, depth) => path[depth] === branch));
  if (node.length === ROLES.length) return Number(below[0]!.success);
  const children = [...new Set(below.map(({ path }) => path[node.length]!))];
  const values = children.map((branch) => valueOf(below, [...node, branch]));
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** An output of a role is good if its value is above this, and bad otherwise. */
export const GOOD_ABOVE = 0.5;
