import { reviewStates } from '../event';
import type { TrajectoryState, TrajectorySummary } from '../trajectory';
import { gradedModes, stateOf, successOf, summaryOf, tagsIn, usedAs, type TextColumn } from './rows';
import { VISIBLE } from './schema';
import type { IndexStore } from './store';
import { textCondition, type EpisodeCondition } from './textFilter';

/** Every dialogue has exactly one outcome. `not-graded` has an answer; `abandoned` was cancelled, failed or skipped. */
export const outcomes = ['success', 'failure', 'not-graded', 'open', 'abandoned'] as const;
export type Outcome = (typeof outcomes)[number];

/** State of a dialogue's review; `none`: nobody has reviewed it. */
export const reviewFilters = [...reviewStates, 'none'] as const;
export type ReviewFilter = (typeof reviewFilters)[number];

/** Prefix of the names of evaluation collections. */
export const EVALUATION = 'evaluation';

/** Source of a dialogue: played or imported by a person, or collected, possibly for an evaluation. */
export const sources = ['played', 'collected', 'evaluation'] as const;
export type Source = (typeof sources)[number];

/** A filter of a list; all given fields must match. */
export interface TrajectoryFilter {
  /** Id of the only dialogue. */
  readonly id?: string;
  readonly task?: string;
  readonly pack?: string;
  readonly agent?: string;
  /** The agent is one of these. */
  readonly agents?: ReadonlySet<string>;
  /** Name of the current collaborator. */
  readonly collaborator?: string;
  readonly collaboratorKind?: 'developer' | 'simulator' | 'rules';
  readonly state?: TrajectoryState;
  /** Grading mode that `success` refers to; defaults to `fixed`, or `paper` for dialogues that have no other grade. */
  readonly mode?: 'fixed' | 'paper';
  readonly success?: boolean;
  /** Outcome of the dialogue; `success` and `failure` refer to the grade of `mode`. */
  readonly outcome?: Outcome;
  readonly leaked?: boolean;
  /** 1 to 5: rated with at least this many stars. 0: not rated. */
  readonly stars?: number;
  /** Time of the start: at or after `since`, before `until`. ISO 8601; a date means its midnight, UTC. */
  readonly since?: string;
  readonly until?: string;
  /** True: a person chose between candidates in it; false: nobody did. */
  readonly chosen?: boolean;
  /** True: a person gave a verdict on a critic; false: nobody did. */
  readonly judged?: boolean;
  /** The last person in the collaborator's seat, also after it went to a simulator. */
  readonly player?: string;
  /** `none`: nobody has reviewed it since it ended. */
  readonly review?: ReviewFilter;
  /** A tag that somebody gave it. */
  readonly tag?: string;
  /** At least this many people gave stars or a thumb, or chose between candidates. */
  readonly raters?: number;
  readonly collection?: string;
  readonly source?: Source;
  /**
   * Text to find in the id, the task's id, the pack, the agent, the collaborator, the player, the title, a tag or a
   * note, in any case.
   */
  readonly text?: string;
  /** Tasks, agents and collaborators whose names on the screen contain `text`; they match too. */
  readonly named?: ReadonlySet<string>;
}

export interface ListOptions {
  readonly filter?: TrajectoryFilter;
  /** Order by start time; defaults to `newest` first. */
  readonly sort?: 'newest' | 'oldest';
  /** Id of a dialogue, which need not match: the list begins behind it. It is empty when the log has no such dialogue. */
  readonly after?: string;
  readonly offset: number;
  readonly limit: number;
}

export interface TrajectoryList {
  readonly rows: readonly TrajectorySummary[];
  /** Number of rows on all pages. */
  readonly total: number;
}

export interface TrajectoryCounts {
  readonly total: number;
  /** Dialogues with a grade of success or failure, in the filter's mode. */
  readonly graded: number;
  readonly successes: number;
  readonly leaked: number;
  /** Tasks with a graded dialogue. */
  readonly tasks: number;
  /** Fraction of graded dialogues that are successes, averaged per task first; null if none is graded. */
  readonly successRate: number | null;
}

/** Dialogues are counted by their source or by one of these columns. */
export type CountedBy = 'source' | 'task' | 'agent' | 'collaborator';

export interface GroupedCounts {
  /** All matching dialogues. */
  readonly all: TrajectoryCounts;
  /** By the value, the most frequent first; sources in their order. It omits dialogues without a value. */
  readonly each: ReadonlyMap<string, TrajectoryCounts>;
}

/** A column of which `valuesOf` lists the values; of `tags` it lists each tag. */
export type SharedColumn = 'task' | 'pack' | 'agent' | 'collaborator' | 'player' | 'tags';

/** A value and the number of dialogues that have it. */
export interface SharedValue {
  readonly value: string;
  readonly count: number;
}

/** The fields of a trajectory for statistics: only part of its summary, because statistics read every trajectory. */
export interface Outline {
  readonly task: string;
  readonly agent: string;
  readonly pack?: string;
  /** Name of the last collaborator. */
  readonly collaborator: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly isAnswered: boolean;
  readonly turns: number;
  /** Null if not graded, or not gradable here. */
  readonly success: boolean | null;
  readonly leaked: boolean;
  /** A developer's mean time per reply, in milliseconds; absent if no time is known. */
  readonly replyMs?: number;
}

/** One rollout of a collection, as far as it is in the log. */
export interface CollectedRollout {
  readonly episode: string;
  readonly state: TrajectoryState;
  /** True if it has a grade in some mode. */
  readonly graded: boolean;
  /** Modes in which it has a grade; a grade that says "not gradable" counts. */
  readonly gradedModes: readonly ('fixed' | 'paper')[];
  /** True if lines of it are missing from the log; reading it whole shows what is left. */
  readonly damaged: boolean;
}

/** Returns one page of the dialogues that match a filter, and their number on all pages. */
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
  // A page that is not full is the last one, and says how many there are.
  const isLast = rows.length < limit && (rows.length > 0 || offset === 0);
  const total = isLast
    ? offset + rows.length
    : (known ??
      store.once(keyOf(['total', filter, after, after && sort]), () => totalOf(store, where, values)));
  return { rows: rows.map((row) => summaryOf(row, store)), total };
}

/** Narrows a condition to what stands behind a dialogue in a list. */
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

/** Counts all matching dialogues and those of each value, and reads each dialogue once for both. */
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

/** Columns of a count of the dialogues of one task. */
function ofTask({ mode }: TrajectoryFilter): string {
  const result = resultIn(mode);
  return `count(*) as total, count(case when ${result} in ('success', 'failure') then 1 end) as graded,
    count(case when ${result} = 'success' then 1 end) as successes, sum(leaked) as leaked`;
}

/** `TrajectoryCounts` of the counts of some tasks. */
const OF_TASKS = `ifnull(sum(total), 0) as total, ifnull(sum(graded), 0) as graded,
  ifnull(sum(successes), 0) as successes, ifnull(sum(leaked), 0) as leaked, count(nullif(graded, 0)) as tasks,
  avg(1.0 * successes / graded) as successRate`;

/**
 * Returns the values of a column, or the single tags, among the matching dialogues, the most frequent first; omits
 * dialogues without one.
 */
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
 * Returns the values of a column; also those that it has only in deleted dialogues or had before, and tasks that were
 * never played. It takes a fraction of the time of `valuesOf`, because it reads no dialogue.
 */
export function namesOf(store: IndexStore, column: TextColumn): string[] {
  const sql = 'select json_group_array(text) as texts from name where used & ?';
  return JSON.parse(store.get<{ texts: string }>(sql, usedAs(column))!.texts) as string[];
}

/** Returns the deleted dialogues, the newest first. */
export function deleted(store: IndexStore): TrajectorySummary[] {
  const rows = store.all(
    'select * from episode where deleted = 1 and started_at is not null order by started_at desc, number desc',
  );
  return rows.map((row) => summaryOf(row, store));
}

/** Returns the id of the newest dialogue of each task, keyed by the task's id. */
export function oneOfEachTask(store: IndexStore): Map<string, string> {
  const rows = store.all(`select task, id, max(number) from episode where ${VISIBLE} group by task`);
  return new Map(rows.map(({ task, id }) => [store.text(Number(task)), String(id)]));
}

/** Returns the outlines of all matching episodes, the oldest first. */
export function outlines(store: IndexStore, filter: TrajectoryFilter): Outline[] {
  const { where, values } = conditionOf(store, filter);
  const rows = store.each<OutlineRow>(
    `select task, agent, pack, collaborator, started_at as startedAt, state = 'answered' as isAnswered, turns,
      ${resultIn(filter.mode)} as result, leaked, reply_ms / nullif(timed_replies, 0) as replyMs
    from episode where ${where} order by started_at, number`,
    ...values,
  );
  return Array.from(rows, ({ task, agent, pack, collaborator, result, replyMs, ...row }) => ({
    task: store.text(task),
    agent: store.text(agent),
    ...(pack !== null && { pack: store.text(pack) }),
    collaborator: store.text(collaborator),
    startedAt: row.startedAt,
    isAnswered: row.isAnswered === 1,
    turns: row.turns,
    success: successOf(result),
    leaked: row.leaked === 1,
    ...(replyMs !== null && { replyMs }),
  }));
}

/** A row of the query; texts are given as their numbers in the table `name`. */
interface OutlineRow {
  readonly task: number;
  readonly agent: number;
  readonly pack: number | null;
  readonly collaborator: number;
  readonly startedAt: number;
  readonly isAnswered: number;
  readonly turns: number;
  readonly result: string | null;
  readonly leaked: number;
  readonly replyMs: number | null;
}

/**
 * Returns the rollouts of a collection, keyed by `<task id>#<rollout>`. If one was begun more than once, an answered
 * one is preferred, and then the newest.
 */
export function collectedRollouts(store: IndexStore, collection: string): Map<string, CollectedRollout> {
  const { where, values } = conditionOf(store, { collection });
  const collected = new Map<string, CollectedRollout>();
  const sql = `select id, task, rollout, state, fixed, paper, damaged from episode where ${where}
    order by started_at, number`;
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

/**
 * Returns SQL for the result of an episode.
 * @param mode grading mode; if undefined, `fixed`, or else `paper`
 */
const resultIn = (mode: 'fixed' | 'paper' | undefined): string => mode ?? 'ifnull(fixed, paper)';

const IS_EVALUATION = `collection in (select number from name where text glob '${EVALUATION}*')`;
const SOURCE = `case when collection is null then 'played' when ${IS_EVALUATION} then 'evaluation' else 'collected' end`;

/** Translates a filter into an SQL condition on the rows of `episode`. */
function conditionOf(store: IndexStore, filter: TrajectoryFilter): EpisodeCondition {
  const parts: string[] = [VISIBLE];
  const values: EpisodeCondition['values'][number][] = [];
  const ask = (part: string, ...given: EpisodeCondition['values']): void => {
    parts.push(part);
    values.push(...given);
  };
  const { state, collaboratorKind, leaked, chosen, judged, success, outcome, stars } = filter;
  const { since, until, mode, text, source, review, tag, raters, agents } = filter;
  const result = resultIn(mode);
  for (const column of ['task', 'pack', 'agent', 'collaborator', 'collection', 'player'] as const) {
    const wanted = filter[column];
    if (wanted !== undefined) ask(`${column} = (select number from name where text = ?)`, wanted);
  }
  if (agents !== undefined) {
    const named = 'select number from name where text in (select value from json_each(?))';
    ask(`agent in (${named})`, JSON.stringify([...agents]));
  }
  if (source === 'played') ask('collection is null');
  else if (source === 'evaluation') ask(IS_EVALUATION);
  else if (source === 'collected') ask(`collection is not null and not ${IS_EVALUATION}`);
  if (filter.id !== undefined) ask('id = ?', filter.id);
  if (state !== undefined) ask(stateIs(state));
  if (collaboratorKind !== undefined) ask('collaborator_kind = ?', collaboratorKind);
  if (leaked !== undefined) ask('leaked = ?', Number(leaked));
  if (chosen !== undefined) ask(chosen ? 'choices > 0' : 'choices = 0');
  if (judged !== undefined) ask(judged ? 'verdicts > 0' : 'verdicts = 0');
  if (raters !== undefined) ask('raters >= ?', raters);
  if (review === 'none') ask('review is null');
  else if (review !== undefined) ask('review = ?', review);
  // Few dialogues have tags, and few texts are tags.
  if (tag !== undefined) ask('tags in (select number from name where instr(text, ?))', `\n${tag}\n`);
  if (success !== undefined) ask(`${result} = ?`, success ? 'success' : 'failure');
  if (outcome !== undefined) ask(outcomeIs(outcome, result));
  if (stars === 0) ask('stars is null');
  else if (stars !== undefined) ask('stars >= ?', stars);
  if (since !== undefined) ask('started_at >= ?', Date.parse(since));
  if (until !== undefined) ask('started_at < ?', Date.parse(until));
  if (text !== undefined && text.trim() !== '') {
    const key = keyOf(['text', text, filter.named]);
    const found = store.once(key, () => textCondition(store, text.trim(), filter.named));
    ask(found.where, ...found.values);
    if (parts.length === 2) return { ...found, where: parts.join(' and ') };
  }
  return { where: parts.join(' and '), values };
}

/** Returns a key for `once`; sets are told by what they contain. */
const keyOf = (parts: unknown): string =>
  JSON.stringify(parts, (_, part: unknown) => (part instanceof Set ? [...(part as Set<unknown>)] : part));

function stateIs(state: TrajectoryState): string {
  return state === 'abandoned' ? "state not in ('open', 'answered')" : `state = '${state}'`;
}

function outcomeIs(outcome: Outcome, result: string): string {
  if (outcome === 'open' || outcome === 'abandoned') return stateIs(outcome);
  const graded = outcome === 'not-graded' ? `ifnull(${result}, 'none') = 'none'` : `${result} = '${outcome}'`;
  return `state = 'answered' and ${graded}`;
}
