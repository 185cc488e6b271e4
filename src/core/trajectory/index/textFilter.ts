import { TEXT_COLUMNS, usedAs } from './rows';
import { IS_ODD_ID, VISIBLE } from './schema';
import type { IndexStore } from './store';

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
export function textCondition(
  store: IndexStore,
  text: string,
  named: ReadonlySet<string> = new Set(),
): EpisodeCondition {
  const matching = numbersWith(store, text.toLowerCase(), named);
  const numbers = JSON.parse(matching) as number[];
  const total = numbers.length;
  if (total === 0) return { where: 'false', values: [], total };
  if (total <= MAX_DIRECT_LOOKUPS)
    return { where: 'number in (select value from json_each(?))', values: [matching], total };
  const found = new Uint8Array(numbers.reduce((last, number) => Math.max(last, number), 0) + 1);
  for (const number of numbers) found[number] = FOUND;
  return { where: isFound('number + 1'), values: [found], total };
}

function numbersWith(store: IndexStore, wanted: string, named: ReadonlySet<string>): string {
  const names = namesWith(store, wanted, named);
  const columns = TEXT_COLUMNS.filter((column) => (names.used & usedAs(column)) !== 0);
  const places: [condition: string, value: string | Uint8Array][] = columns.map((column) => [
    isFound(column),
    names.found,
  ]);
  const odd = numbersOf(store, `${IS_ODD_ID} and instr(lower(id), ?)`, [wanted]);
  if (odd !== '[]') places.push(['number in (select value from json_each(?))', odd]);
  if (/^[0-9a-f-]+$/.test(wanted)) places.push(['instr(id, ?)', wanted]);
  if (places.length === 0) return '[]';
  const isAny = places.map(([condition]) => condition).join(' or ');
  return numbersOf(
    store,
    `${VISIBLE} and (${isAny})`,
    places.map(([, value]) => value),
  );
}

/** As JSON: one row of a query is read much faster than one for each episode. */
function numbersOf(store: IndexStore, where: string, values: readonly (string | Uint8Array)[]): string {
  const sql = `select json_group_array(number) as numbers from episode where ${where}`;
  return store.get<{ numbers: string }>(sql, ...values)!.numbers;
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
