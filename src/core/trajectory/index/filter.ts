import { reviewStates } from '../event';
import type { TrajectoryState } from '../trajectory';
import { VISIBLE } from './schema';
import type { IndexStore } from './store';
import { TEXT_COLUMNS, usedAs } from './rows';

/**
 * Every dialogue has one outcome, but a graded page has none: it has a score and no success. `not-graded` has an answer;
 * `abandoned` was cancelled, failed or skipped.
 */
export const outcomes = ['success', 'failure', 'not-graded', 'open', 'abandoned'] as const;
export type Outcome = (typeof outcomes)[number];

export const reviewFilters = [...reviewStates, 'none'] as const;
export type ReviewFilter = (typeof reviewFilters)[number];

/** Prefix of the names of evaluation collections. */
export const EVALUATION = 'evaluation';

/** Prefix of the collections of sessions that other programs recorded. */
export const SESSIONS = 'from elsewhere: ';

/** Played or imported by a person, collected, possibly for an evaluation, or recorded by another program. */
export const sources = ['played', 'collected', 'evaluation', 'elsewhere'] as const;
export type Source = (typeof sources)[number];

export interface TrajectoryFilter {
  readonly id?: string;
  readonly task?: string;
  readonly pack?: string;
  readonly agent?: string;
  readonly agents?: ReadonlySet<string>;
  readonly collaborator?: string;
  readonly collaboratorKind?: 'developer' | 'simulator' | 'rules';
  readonly state?: TrajectoryState;
  /** Grading mode that `success` refers to; defaults to `fixed`, or `paper` for dialogues that have no other grade. */
  readonly mode?: 'fixed' | 'paper';
  readonly success?: boolean;
  /** `success` and `failure` refer to the grade of `mode`. */
  readonly outcome?: Outcome;
  readonly leaked?: boolean;
  /** 1 to 5: rated with at least this many stars. 0: not rated. */
  readonly stars?: number;
  /** Time of the start: at or after `since`, before `until`. ISO 8601; a date means its midnight, UTC. */
  readonly since?: string;
  readonly until?: string;
  /** True: a person chose between candidates in it; false: no one did. */
  readonly chosen?: boolean;
  /** True: a person gave a verdict on a critic; false: no one did. */
  readonly judged?: boolean;
  /** The last person in the collaborator's seat, also after it went to a simulator. */
  readonly player?: string;
  readonly review?: ReviewFilter;
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
  /** Tasks, agents and collaborators that are shown under names with `text`; they match too. */
  readonly named?: ReadonlySet<string>;
}

/** @param mode if undefined, `fixed`, or else `paper` */
export const resultIn = (mode: 'fixed' | 'paper' | undefined): string => mode ?? 'ifnull(fixed, paper)';

/** Of a page there is a reward and no success. */
export const rewardIn = (mode: 'fixed' | 'paper' | undefined): string =>
  mode === undefined ? 'ifnull(fixed_reward, paper_reward)' : `${mode}_reward`;

/** Of a page's score; null for everything else. */
export const scaleIn = (mode: 'fixed' | 'paper' | undefined): string =>
  mode === undefined
    ? 'case when fixed_reward is null then paper_scale else fixed_scale end'
    : `${mode}_scale`;

const named = (prefix: string): string =>
  `collection in (select number from name where text glob '${prefix}*')`;
const IS_EVALUATION = named(EVALUATION);
const IS_SESSION = named(SESSIONS);
export const SOURCE = `case when collection is null then 'played' when ${IS_EVALUATION} then 'evaluation' when ${IS_SESSION} then 'elsewhere' else 'collected' end`;

export function conditionOf(store: IndexStore, filter: TrajectoryFilter): EpisodeCondition {
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
  else if (source === 'elsewhere') ask(IS_SESSION);
  else if (source === 'collected')
    ask(`collection is not null and not ${IS_EVALUATION} and not ${IS_SESSION}`);
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
  if (outcome !== undefined) ask(outcomeIs(outcome, mode));
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

export const keyOf = (parts: unknown): string =>
  JSON.stringify(parts, (_, part: unknown) => (part instanceof Set ? [...(part as Set<unknown>)] : part));

function stateIs(state: TrajectoryState): string {
  return state === 'abandoned' ? "state not in ('open', 'answered')" : `state = '${state}'`;
}

function outcomeIs(outcome: Outcome, mode: 'fixed' | 'paper' | undefined): string {
  const result = resultIn(mode);
  if (outcome === 'open' || outcome === 'abandoned') return stateIs(outcome);
  const graded =
    outcome === 'not-graded'
      ? `ifnull(${result}, 'none') = 'none' and ${rewardIn(mode)} is null`
      : `${result} = '${outcome}'`;
  return `state = 'answered' and ${graded}`;
}

export interface EpisodeCondition {
  readonly where: string;
  readonly values: readonly (string | number | Uint8Array)[];
  /** Number of dialogues of the whole list that meet it, if it is known. */
  readonly total?: number;
}

/** Byte of a name or a dialogue that has the text. */
const FOUND = 1;

/** Up to so many dialogues are looked up one by one, which takes less time than to look through the list. */
const MAX_DIRECT_LOOKUPS = 256;

/**
 * Returns SQL that is true if a table of bytes, its parameter, has `FOUND` at a place, counted from 1. It takes
 * the same time for any number of places, and `in` takes several times as long with thousands of them.
 */
const isFound = (place: string): string => `substr(?, ${place}, 1) = x'01'`;

/**
 * Finds the dialogues that have a text, in any case, in their id or in one of `TEXT_COLUMNS`, or one of `named` in such
 * a column. Each dialogue of the list is looked at once, and only where the text can be.
 * @param text is not empty
 * @returns a condition that compares no texts
 */
function textCondition(
  store: IndexStore,
  text: string,
  named: ReadonlySet<string> = new Set(),
): EpisodeCondition {
  const wanted = text.toLowerCase();
  const names = namesWith(store, wanted, named);
  const places = TEXT_COLUMNS.filter((column) => (names.used & usedAs(column)) !== 0).map(isFound);
  const isAny = [...places, 'instr(lower(id), ?)'].join(' or ');
  // As JSON: one row of a query is read much faster than one for each episode.
  const sql = `select json_group_array(number) as numbers from episode where ${VISIBLE} and (${isAny})`;
  const tables = places.map(() => names.found);
  const { numbers: matching } = store.get<{ numbers: string }>(sql, ...tables, wanted)!;
  const numbers = JSON.parse(matching) as number[];
  const total = numbers.length;
  if (total === 0) return { where: 'false', values: [], total };
  if (total <= MAX_DIRECT_LOOKUPS)
    return { where: 'number in (select value from json_each(?))', values: [matching], total };
  const found = new Uint8Array(numbers.reduce((last, number) => Math.max(last, number), 0) + 1);
  for (const number of numbers) found[number] = FOUND;
  return { where: isFound('number + 1'), values: [found], total };
}

/**
 * Finds the names that have a text, or are `named`.
 * @returns a byte for each name, the first for number 1, and the columns that have had one of the names; see `usedAs`
 */
function namesWith(
  store: IndexStore,
  wanted: string,
  named: ReadonlySet<string>,
): { readonly found: Uint8Array; readonly used: number } {
  const last = store.get<{ last: number | null }>('select max(number) as last from name')!.last ?? 0;
  const found = new Uint8Array(last);
  let used = 0;
  const find = (condition: string, value: string): void => {
    const sql = `select json_group_array(number) as numbers, json_group_array(used) as uses from name where ${condition}`;
    const { numbers, uses } = store.get<Record<'numbers' | 'uses', string>>(sql, value)!;
    for (const number of JSON.parse(numbers) as number[]) found[number - 1] = FOUND;
    for (const use of JSON.parse(uses) as number[]) used |= use;
  };
  find('instr(ifnull(lowered, text), ?)', wanted);
  if (named.size > 0) find('text in (select value from json_each(?))', JSON.stringify([...named]));
  return { found, used };
}
