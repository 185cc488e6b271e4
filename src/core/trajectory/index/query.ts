import type { TrajectoryState, TrajectorySummary } from '../trajectory';
import {
  conditionOf,
  keyOf,
  resultIn,
  rewardIn,
  scaleIn,
  SOURCE,
  sources,
  type Source,
  type TrajectoryFilter,
  type EpisodeCondition,
} from './filter';
import { gradedModes, stateOf, successOf, summaryOf, tagsIn, usedAs, type TextColumn } from './rows';
import { VISIBLE } from './schema';
import type { IndexStore } from './store';

export interface ListOptions {
  readonly filter?: TrajectoryFilter;
  readonly sort?: 'newest' | 'oldest';
  /** The list begins behind this dialogue, which need not match. It is empty when the log has no such dialogue. */
  readonly after?: string;
  readonly offset: number;
  readonly limit: number;
}

export interface TrajectoryList {
  readonly rows: readonly TrajectorySummary[];
  readonly total: number;
}

export interface TrajectoryCounts {
  readonly total: number;
  /** Dialogues with a grade of success or failure, in the filter's mode. */
  readonly graded: number;
  readonly successes: number;
  readonly leaked: number;
  readonly tasks: number;
  /** Fraction of graded dialogues that are successes, averaged per task first; null if none is graded. */
  readonly successRate: number | null;
}

/** Dialogues are counted by their source or by one of these columns. */
export type CountedBy = 'source' | 'task' | 'agent' | 'collaborator';

export interface GroupedCounts {
  readonly all: TrajectoryCounts;
  /** By the value, the most frequent first; sources in their order. It omits dialogues without a value. */
  readonly each: ReadonlyMap<string, TrajectoryCounts>;
}

export type SharedColumn = 'task' | 'pack' | 'agent' | 'collaborator' | 'player' | 'tags';

export interface SharedValue {
  readonly value: string;
  readonly count: number;
}

/** Only part of a summary, because statistics read every trajectory. */
export interface Outline {
  readonly id: string;
  readonly task: string;
  readonly agent: string;
  readonly pack?: string;
  readonly collaborator: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly isAnswered: boolean;
  readonly turns: number;
  /** Null if not graded, not gradable here, or a page without checks. */
  readonly success: boolean | null;
  readonly page?: PageScore;
  readonly leaked: boolean;
  /** A developer's mean time per reply, in milliseconds; absent if no time is known. */
  readonly replyMs?: number;
}

/** Of a graded page, 0 to 1, with what measured it. */
export interface PageScore {
  readonly mode: 'fixed' | 'paper';
  readonly measure: string;
  readonly version: number;
  readonly renderer: string;
  readonly score: number;
}

/** As far as it is in the log. */
export interface CollectedRollout {
  readonly episode: string;
  readonly state: TrajectoryState;
  readonly graded: boolean;
  /** Modes in which it has a grade; a grade that says "not gradable" counts. */
  readonly gradedModes: readonly ('fixed' | 'paper')[];
  /** True if lines of it are missing from the log; reading it whole shows what is left. */
  readonly damaged: boolean;
}

export function page(
  store: IndexStore,
  { filter = {}, sort = 'newest', after, offset, limit }: ListOptions,
): TrajectoryList {
  const condition = conditionOf(store, filter);
  const { where, values, total: known } = after === undefined ? condition : behind(after, sort, condition);
  const order = sort === 'oldest' ? 'asc' : 'desc';
  const rows = store.all(
    `select * from episode where ${where} order by started_at ${order}, number ${order} limit ? offset ?`,
    ...[...values, Number.isFinite(limit) ? limit : -1, offset],
  );
  const key = keyOf(['total', filter, after, after && sort]);
  const total = known ?? store.once(key, () => totalOf(store, where, values));
  return { rows: rows.map((row) => summaryOf(row, store)), total };
}

function behind(
  id: string,
  sort: 'newest' | 'oldest',
  { where, values }: EpisodeCondition,
): EpisodeCondition {
  const place = '(select started_at, number from episode where id = ?)';
  const is = sort === 'oldest' ? '>' : '<';
  return { where: `${where} and (started_at, number) ${is} ${place}`, values: [...values, id] };
}

function totalOf(store: IndexStore, where: string, values: EpisodeCondition['values']): number {
  const sql = `select count(*) as total from episode where ${where}`;
  return store.get<{ total: number }>(sql, ...values)!.total;
}

export function count(store: IndexStore, filter: TrajectoryFilter): TrajectoryCounts {
  const { where, values } = conditionOf(store, filter);
  const counted = store.get<TrajectoryCounts>(
    `select ${OF_TASKS} from (select ${ofTask(filter)} from episode where ${where} group by task)`,
    ...values,
  );
  return { ...counted! };
}

export function countBy(store: IndexStore, by: CountedBy, filter: TrajectoryFilter): GroupedCounts {
  const { where, values } = conditionOf(store, filter);
  const value = by === 'source' ? SOURCE : by;
  const rows = store.all<TrajectoryCounts & { value: number | string | null; isAll: number }>(
    `with part as materialized (
      select ${value} as value, task, ${ofTask(filter)} from episode where ${where} group by value, task)
    select 1 as isAll, null as value, ${OF_TASKS} from (
      select sum(total) as total, sum(graded) as graded, sum(successes) as successes, sum(leaked) as leaked
      from part group by task)
    union all select 0, value, ${OF_TASKS} from part where value is not null group by value`,
    ...values,
  );
  const found = rows.map(({ value: of, isAll, ...counts }) => ({ of, isAll, counts }));
  const each = found.flatMap(({ of, isAll, counts }): [string, TrajectoryCounts][] =>
    isAll === 1 || of === null ? [] : [[typeof of === 'number' ? store.text(of) : of, counts]],
  );
  const place = ([one]: [string, unknown]): number => sources.indexOf(one as Source);
  each.sort((a, b) =>
    by === 'source' ? place(a) - place(b) : b[1].total - a[1].total || (a[0] < b[0] ? -1 : 1),
  );
  return { all: found.find(({ isAll }) => isAll === 1)!.counts, each: new Map(each) };
}

function ofTask({ mode }: TrajectoryFilter): string {
  const result = resultIn(mode);
  return `count(*) as total, count(case when ${result} in ('success', 'failure') then 1 end) as graded,
    count(case when ${result} = 'success' then 1 end) as successes, sum(leaked) as leaked`;
}

const OF_TASKS = `ifnull(sum(total), 0) as total, ifnull(sum(graded), 0) as graded,
  ifnull(sum(successes), 0) as successes, ifnull(sum(leaked), 0) as leaked, count(nullif(graded, 0)) as tasks,
  avg(1.0 * successes / graded) as successRate`;

/** The most frequent first; dialogues without a value are left out. */
export function valuesOf(store: IndexStore, column: SharedColumn, filter: TrajectoryFilter): SharedValue[] {
  const { where, values } = conditionOf(store, filter);
  const counts = new Map<string, number>();
  const rows = store.all<{ number: number; count: number }>(
    `select ${column} as number, count(*) as count from episode where ${where} and ${column} is not null group by ${column}`,
    ...values,
  );
  for (const row of rows) {
    const text = store.text(row.number);
    const all = column === 'tags' ? tagsIn(text) : [text];
    for (const value of all) counts.set(value, (counts.get(value) ?? 0) + row.count);
  }
  return [...counts]
    .map(([value, shared]) => ({ value, count: shared }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

/**
 * Also values that only deleted dialogues have, or that a dialogue had before, and tasks that were never played. Takes
 * a fraction of the time of `valuesOf`, because it reads no dialogue.
 */
export function namesOf(store: IndexStore, column: TextColumn): string[] {
  const sql = 'select json_group_array(text) as texts from name where used & ?';
  return JSON.parse(store.get<{ texts: string }>(sql, usedAs(column))!.texts) as string[];
}

export function ids(store: IndexStore): string[] {
  const sql = `select json_group_array(id) as ids from episode where ${VISIBLE}`;
  return JSON.parse(store.get<{ ids: string }>(sql)!.ids) as string[];
}

export function deleted(store: IndexStore): TrajectorySummary[] {
  const rows = store.all(
    'select * from episode where deleted = 1 and started_at is not null order by started_at desc, number desc',
  );
  return rows.map((row) => summaryOf(row, store));
}

/** Keyed by the task's id. */
export function oneOfEachTask(store: IndexStore): Map<string, string> {
  const rows = store.all(`select task, id, max(number) from episode where ${VISIBLE} group by task`);
  return new Map(rows.map(({ task, id }) => [store.text(Number(task)), String(id)]));
}

/** Without forks: they begin where someone chose, so that they are no samples of how an agent does. */
export function outlines(store: IndexStore, filter: TrajectoryFilter): Outline[] {
  const { where, values } = conditionOf(store, filter);
  const rows = store.each<OutlineRow>(
    `select id, task, agent, pack, collaborator, started_at as startedAt, state = 'answered' as isAnswered, turns,
      ${resultIn(filter.mode)} as result, ${scaleIn(filter.mode)} as scale, ${rewardIn(filter.mode)} as reward, leaked, reply_ms / nullif(timed_replies, 0) as replyMs
    from episode where ${where} and parent is null order by started_at, number`,
    ...values,
  );
  return Array.from(rows, ({ task, agent, pack, collaborator, result, scale, reward, replyMs, ...row }) => ({
    id: row.id,
    task: store.text(task),
    agent: store.text(agent),
    ...(pack !== null && { pack: store.text(pack) }),
    collaborator: store.text(collaborator),
    startedAt: row.startedAt,
    isAnswered: row.isAnswered === 1,
    turns: row.turns,
    success: successOf(result),
    ...(scale !== null && reward !== null && { page: pageScore(store.text(scale), reward) }),
    leaked: row.leaked === 1,
    ...(replyMs !== null && { replyMs }),
  }));
}

/** Ids of the forks of a dialogue, oldest first. */
export function forksOf(store: IndexStore, id: string): string[] {
  const rows = store.each<{ id: string }>(
    `select id from episode where parent = ? and ${VISIBLE} order by number`,
    id,
  );
  return Array.from(rows, (row) => row.id);
}

function pageScore(scale: string, score: number): PageScore {
  const [mode, measure, version, renderer] = JSON.parse(scale) as [PageScore['mode'], string, number, string];
  return { mode, measure, version, renderer, score };
}

/** A row of the query; texts are given as their numbers in the table `name`. */
interface OutlineRow {
  readonly id: string;
  readonly task: number;
  readonly agent: number;
  readonly pack: number | null;
  readonly collaborator: number;
  readonly startedAt: number;
  readonly isAnswered: number;
  readonly turns: number;
  readonly result: string | null;
  readonly scale: number | null;
  readonly reward: number | null;
  readonly leaked: number;
  readonly replyMs: number | null;
}

/**
 * Keyed by `<task id>#<rollout>`. If one was begun more than once, an answered one is preferred, and then the newest. A
 * dialogue that a person has taken over is left out: it would count as played by the collection's simulator.
 */
export function collectedRollouts(store: IndexStore, collection: string): Map<string, CollectedRollout> {
  const { where, values } = conditionOf(store, { collection });
  const collected = new Map<string, CollectedRollout>();
  const sql = `select id, task, rollout, state, fixed, paper, damaged from episode where ${where}
    and player is null order by started_at, number`;
  for (const row of store.each(sql, ...values)) {
    const key = `${store.text(Number(row.task))}#${Number(row.rollout ?? 0)}`;
    const state = stateOf(row.state);
    if (collected.get(key)?.state === 'answered' && state !== 'answered') continue;
    const graded = gradedModes(row);
    collected.set(key, {
      ...{ episode: String(row.id), state, graded: graded.length > 0, gradedModes: graded },
      damaged: row.damaged === 1,
    });
  }
  return collected;
}
