import type { TrajectoryState, TrajectorySummary } from '../trajectory';
import type { Episodes } from './episodes';

/** What a list is narrowed to; every field that is given must hold. */
export interface TrajectoryFilter {
  readonly task?: string;
  readonly pack?: string;
  readonly agent?: string;
  /** The name of who sits in the collaborator's seat now. */
  readonly collaborator?: string;
  readonly collaboratorKind?: 'developer' | 'simulator' | 'rules';
  readonly state?: TrajectoryState;
  /** Which grade `success` looks at; `fixed`, or `paper` where there is no other, when it is not given. */
  readonly mode?: 'fixed' | 'paper';
  readonly success?: boolean;
  readonly leaked?: boolean;
  /** A person chose between candidates in it, or nobody did. */
  readonly chosen?: boolean;
  readonly collection?: string;
  /** Found in the id, the task's id, the pack, the agent or the collaborator, in any case. */
  readonly text?: string;
}

export interface ListOptions {
  readonly filter?: TrajectoryFilter;
  /** By the time of the start; `newest` first when it is not given. */
  readonly sort?: 'newest' | 'oldest';
  readonly offset: number;
  readonly limit: number;
}

export interface TrajectoryList {
  readonly rows: readonly TrajectorySummary[];
  /** How many there are in all pages. */
  readonly total: number;
}

export interface TrajectoryCounts {
  readonly total: number;
  /** Those with a grade that says success or not, in the filter's mode. */
  readonly graded: number;
  readonly successes: number;
  readonly leaked: number;
}

/** All visible episodes from the oldest to the newest; those that started in the same millisecond as they were logged. */
export function inTimeOrder(episodes: Episodes): Uint32Array {
  const order = new Uint32Array(episodes.length);
  let count = 0;
  let sorted = true;
  let last = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < episodes.length; row += 1) {
    if (!episodes.isVisible(row)) continue;
    order[count] = row;
    count += 1;
    const at = episodes.columns.startedAt.get(row);
    if (at < last) sorted = false;
    last = at;
  }
  const visible = order.subarray(0, count);
  if (!sorted)
    visible.sort((a, b) => episodes.columns.startedAt.get(a) - episodes.columns.startedAt.get(b) || a - b);
  return visible;
}

/** One page. `order` is what `inTimeOrder` gave. */
export function page(episodes: Episodes, order: Uint32Array, options: ListOptions): TrajectoryList {
  const { filter = {}, sort = 'newest', offset, limit } = options;
  const rows = matching(episodes, order, filter);
  const total = rows.length;
  const summaries: TrajectorySummary[] = [];
  for (let at = offset; at < Math.min(offset + limit, total); at += 1) {
    summaries.push(episodes.summary(rows[sort === 'oldest' ? at : total - 1 - at]!));
  }
  return { rows: summaries, total };
}

export function count(episodes: Episodes, order: Uint32Array, filter: TrajectoryFilter): TrajectoryCounts {
  const rows = matching(episodes, order, filter);
  let graded = 0;
  let successes = 0;
  let leaked = 0;
  for (const row of rows) {
    const success = outcome(episodes, row, filter.mode);
    if (success !== null) graded += 1;
    if (success === true) successes += 1;
    if (episodes.isLeaked(row)) leaked += 1;
  }
  return { total: rows.length, graded, successes, leaked };
}

/** The rows of `order` that the filter leaves, in the same order. */
export function matching(episodes: Episodes, order: Uint32Array, filter: TrajectoryFilter): Uint32Array {
  const tests = testsOf(episodes, filter);
  if (tests.length === 0) return order;
  return order.filter((row) => tests.every((test) => test(row)));
}

type RowTest = (row: number) => boolean;

function testsOf(episodes: Episodes, filter: TrajectoryFilter): RowTest[] {
  const tests: RowTest[] = [];
  const { state, collaboratorKind, leaked, chosen, success, mode, text } = filter;
  for (const column of ['task', 'pack', 'agent', 'collaborator', 'collection'] as const) {
    const wanted = filter[column];
    if (wanted === undefined) continue;
    const number = episodes.strings.find(wanted);
    const values = episodes.columns[column];
    tests.push(number === undefined ? () => false : (row) => values.get(row) === number);
  }
  if (state !== undefined) tests.push((row) => episodes.state(row) === state);
  if (collaboratorKind !== undefined) tests.push((row) => episodes.seatKind(row) === collaboratorKind);
  if (leaked !== undefined) tests.push((row) => episodes.isLeaked(row) === leaked);
  if (chosen !== undefined) tests.push((row) => episodes.columns.choices.get(row) > 0 === chosen);
  if (success !== undefined) tests.push((row) => outcome(episodes, row, mode) === success);
  if (text !== undefined && text.trim() !== '') tests.push(textTest(episodes, text.trim().toLowerCase()));
  return tests;
}

function textTest(episodes: Episodes, wanted: string): RowTest {
  // Each distinct string is searched once, whatever the number of episodes that hold it.
  const found = episodes.strings.values.map((value) => value.toLowerCase().includes(wanted));
  return (row) =>
    found[episodes.columns.task.get(row)] === true ||
    found[episodes.columns.agent.get(row)] === true ||
    found[episodes.columns.collaborator.get(row)] === true ||
    found[episodes.columns.pack.get(row)] === true ||
    episodes.ids[row]!.toLowerCase().includes(wanted);
}

function outcome(episodes: Episodes, row: number, mode: 'fixed' | 'paper' | undefined): boolean | null {
  const grade =
    mode === undefined
      ? (episodes.grade(row, 'fixed') ?? episodes.grade(row, 'paper'))
      : episodes.grade(row, mode);
  return grade?.success ?? null;
}

/** One rollout of a collection, as far as the log has it. */
export interface CollectedRollout {
  readonly episode: string;
  readonly state: TrajectoryState;
  /** It has a grade in some mode. */
  readonly graded: boolean;
  /** The modes in which it has a grade; what cannot be graded here has one too. */
  readonly gradedModes: readonly ('fixed' | 'paper')[];
  /** Lines of it are missing from the log: only reading it whole tells what is left. */
  readonly damaged: boolean;
}

const MODES = ['fixed', 'paper'] as const;

/**
 * The rollouts of a collection by `<task id>#<rollout>`. When one was begun more than once, an answered one stands
 * before the others, then the newest.
 */
export function collectedRollouts(
  episodes: Episodes,
  order: Uint32Array,
  collection: string,
): Map<string, CollectedRollout> {
  const collected = new Map<string, CollectedRollout>();
  for (const row of matching(episodes, order, { collection })) {
    const { task, rollout } = episodes.columns;
    const key = `${episodes.strings.text(task.get(row))}#${Math.max(0, rollout.get(row))}`;
    const state = episodes.state(row);
    if (collected.get(key)?.state === 'answered' && state !== 'answered') continue;
    const gradedModes = MODES.filter((mode) => episodes.grade(row, mode) !== undefined);
    const graded = gradedModes.length > 0;
    const damaged = episodes.isDamaged(row);
    collected.set(key, { episode: episodes.ids[row]!, state, graded, gradedModes, damaged });
  }
  return collected;
}
