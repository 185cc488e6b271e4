import type { TrajectoryState, TrajectorySummary } from '../trajectory';
import type { Column } from './columns';
import type { Episodes } from './episodes';

/** Every dialogue has exactly one. `not-graded` has an answer; `abandoned` was cancelled, failed or skipped. */
export const outcomes = ['success', 'failure', 'not-graded', 'open', 'abandoned'] as const;
export type Outcome = (typeof outcomes)[number];

/** How the name of a collection begins that belongs to an evaluation. */
export const EVALUATION = 'evaluation';

/** Where a dialogue comes from: a person played it or brought it in, or a collection did, which may be an evaluation. */
export const sources = ['played', 'collected', 'evaluation'] as const;
export type Source = (typeof sources)[number];

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
  /** How the dialogue stands; `success` and `failure` look at the grade of `mode`. */
  readonly outcome?: Outcome;
  readonly leaked?: boolean;
  /** 1 to 5: rated with at least so many stars. 0: not rated at all. */
  readonly stars?: number;
  /** Began then: not before `since`, before `until`. ISO 8601; a date is its midnight, UTC. */
  readonly since?: string;
  readonly until?: string;
  /** A person chose between candidates in it, or nobody did. */
  readonly chosen?: boolean;
  /** A person said of a turn whether a critic is right, or nobody did. */
  readonly judged?: boolean;
  readonly collection?: string;
  readonly source?: Source;
  /** Found in the id, the task's id, the pack, the agent or the collaborator, in any case. */
  readonly text?: string;
  /** Tasks, agents and collaborators that the screen calls by names that hold `text`; found with it, too. */
  readonly named?: ReadonlySet<string>;
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
  /** Tasks with a graded dialogue. */
  readonly tasks: number;
  /** Fraction of graded dialogues that are successes, averaged per task first; null when none is graded. */
  readonly successRate: number | null;
}

/** A value that dialogues share, and how many do. */
export interface SharedValue {
  readonly value: string;
  readonly count: number;
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
  // By the number of the task's name.
  const gradedOf = new Uint32Array(episodes.strings.values.length);
  const successesOf = new Uint32Array(episodes.strings.values.length);
  let leaked = 0;
  for (const row of rows) {
    const success = successOf(episodes, row, filter.mode);
    const task = episodes.columns.task.get(row);
    if (success !== null) gradedOf[task]! += 1;
    if (success === true) successesOf[task]! += 1;
    if (episodes.isLeaked(row)) leaked += 1;
  }
  let graded = 0;
  let successes = 0;
  let tasks = 0;
  let rates = 0;
  for (const [task, ofTask] of gradedOf.entries()) {
    if (ofTask === 0) continue;
    tasks += 1;
    graded += ofTask;
    successes += successesOf[task]!;
    rates += successesOf[task]! / ofTask;
  }
  return {
    total: rows.length,
    graded,
    successes,
    leaked,
    tasks,
    successRate: tasks === 0 ? null : rates / tasks,
  };
}

/** The values that the matching dialogues have in a column, the most frequent first; those without one are left out. */
export function valuesOf(
  episodes: Episodes,
  order: Uint32Array,
  column: 'task' | 'pack' | 'agent' | 'collaborator',
  filter: TrajectoryFilter,
): SharedValue[] {
  const counts = new Uint32Array(episodes.strings.values.length);
  const numbers = episodes.columns[column];
  for (const row of matching(episodes, order, filter)) {
    const number = numbers.get(row);
    if (number >= 0) counts[number]! += 1;
  }
  const values = [...counts.entries()].filter(([, count]) => count > 0);
  return values
    .map(([number, count]) => ({ value: episodes.strings.text(number), count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

/** The id of one dialogue of each task, by the id of the task. */
export function oneOfEachTask(episodes: Episodes, order: Uint32Array): Map<string, string> {
  const rows = new Map<number, number>();
  for (const row of order) rows.set(episodes.columns.task.get(row), row);
  return new Map([...rows].map(([task, row]) => [episodes.strings.text(task), episodes.ids[row]!]));
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
  const { state, collaboratorKind, leaked, chosen, judged, success, outcome, stars } = filter;
  const { since, until, mode, text } = filter;
  const { startedAt } = episodes.columns;
  for (const column of ['task', 'pack', 'agent', 'collaborator', 'collection'] as const) {
    const wanted = filter[column];
    if (wanted === undefined) continue;
    const number = episodes.strings.find(wanted);
    const values = episodes.columns[column];
    tests.push(number === undefined ? () => false : (row) => values.get(row) === number);
  }
  if (filter.source !== undefined) tests.push(sourceTest(episodes, filter.source));
  if (state !== undefined) tests.push((row) => episodes.state(row) === state);
  if (collaboratorKind !== undefined) tests.push((row) => episodes.seatKind(row) === collaboratorKind);
  if (leaked !== undefined) tests.push((row) => episodes.isLeaked(row) === leaked);
  if (chosen !== undefined) tests.push((row) => episodes.columns.choices.get(row) > 0 === chosen);
  if (judged !== undefined) tests.push((row) => episodes.columns.verdicts.get(row) > 0 === judged);
  if (success !== undefined) tests.push((row) => successOf(episodes, row, mode) === success);
  if (outcome !== undefined) tests.push((row) => outcomeOf(episodes, row, mode) === outcome);
  if (stars !== undefined) tests.push(starsTest(episodes, stars));
  if (since !== undefined) tests.push(startsFrom(startedAt, since));
  if (until !== undefined) tests.push(startsBefore(startedAt, until));
  if (text !== undefined && text.trim() !== '')
    tests.push(textTest(episodes, text.trim().toLowerCase(), filter.named));
  return tests;
}

function textTest(episodes: Episodes, wanted: string, named?: ReadonlySet<string>): RowTest {
  // Each distinct string is searched once, whatever the number of episodes that hold it.
  const found = episodes.strings.values.map(
    (value) => value.toLowerCase().includes(wanted) || named?.has(value) === true,
  );
  return (row) =>
    found[episodes.columns.task.get(row)] === true ||
    found[episodes.columns.agent.get(row)] === true ||
    found[episodes.columns.collaborator.get(row)] === true ||
    found[episodes.columns.pack.get(row)] === true ||
    episodes.ids[row]!.toLowerCase().includes(wanted);
}

function sourceTest({ columns, strings }: Episodes, wanted: Source): RowTest {
  const { collection } = columns;
  if (wanted === 'played') return (row) => collection.get(row) < 0;
  const isEvaluation = strings.values.map((value) => value.startsWith(EVALUATION));
  return (row) => collection.get(row) >= 0 && isEvaluation[collection.get(row)] === (wanted === 'evaluation');
}

function starsTest({ columns }: Episodes, stars: number): RowTest {
  return stars === 0 ? (row) => columns.stars.get(row) === 0 : (row) => columns.stars.get(row) >= stars;
}

function startsFrom(startedAt: Column, since: string): RowTest {
  const time = Date.parse(since);
  return (row) => startedAt.get(row) >= time;
}

function startsBefore(startedAt: Column, until: string): RowTest {
  const time = Date.parse(until);
  return (row) => startedAt.get(row) < time;
}

function outcomeOf(episodes: Episodes, row: number, mode: 'fixed' | 'paper' | undefined): Outcome {
  const state = episodes.state(row);
  if (state !== 'answered') return state;
  const success = successOf(episodes, row, mode);
  if (success === null) return 'not-graded';
  return success ? 'success' : 'failure';
}

/** Null when there is no grade that says. @param mode whose; `fixed` or else `paper` when it is not given */
export function successOf(
  episodes: Episodes,
  row: number,
  mode: 'fixed' | 'paper' | undefined,
): boolean | null {
  const grade =
    mode === undefined
      ? (episodes.grade(row, 'fixed') ?? episodes.grade(row, 'paper'))
      : episodes.grade(row, mode);
  return grade?.success ?? null;
}
