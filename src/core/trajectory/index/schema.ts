import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { kindOf } from '../../regularFile';
import type { ReadSegment } from '../segment/files';
import { COLUMNS } from './rows';
import { damageOf, openDatabase } from './sqlite';

/** Increase it whenever the content or its meaning changes. */
const VERSION = 7;

export const SCHEMA = `
  create table meta (name text primary key, value) without rowid;
  create table segment (number integer primary key, name text not null unique, state text not null);
  create table name (number integer primary key, text text not null unique, used integer not null, lowered text);
  create table episode (${Object.entries(COLUMNS)
    .map(([column, type]) => `${column} ${type}`)
    .join(', ')});
  create index episode_damaged on episode (task) where damaged = 1 and unsettled = 0;
  create index episode_unsettled on episode (number) where unsettled = 1;
  create table lines (
    episode integer, part integer, ranges text not null, primary key (episode, part)
  ) without rowid;
  create table task_line (
    task integer, segment integer, start integer, length integer, primary key (task, segment, start)
  ) without rowid;
  create table consent (pseudonym text not null, purpose text not null, level text, at text not null, origin text);
  create table assignment (pack text not null, part text, at text not null);
  create table older (name text primary key, noted text not null) without rowid;
  create table problem (segment text not null, line integer not null, reason text not null);
  create view trajectory as
    select id, task.text as task, pack.text as pack, agent.text as agent, collaborator.text as collaborator,
      collaborator_kind, collection.text as collection, rollout, seed,
      strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000, 'unixepoch') as started_at, state, turns, fixed, fixed_reward,
      paper, paper_reward, leak, leaked, choices, verdicts, stars, raters, review, player.text as player,
      title.text as title, trim(replace(tags.text, char(10), ' ')) as tags, deleted, damaged, doubtful
    from episode join name as task on task.number = task join name as agent on agent.number = agent
      join name as collaborator on collaborator.number = collaborator
      left join name as pack on pack.number = pack left join name as collection on collection.number = collection
      left join name as player on player.number = player left join name as title on title.number = title
      left join name as tags on tags.number = tags;
`;

export const VISIBLE = 'deleted = 0 and started_at is not null';

/**
 * Condition for episodes with an id that is no UUID in lower case: it has other characters than hexadecimal digits and
 * hyphens, or may have (`unhex` wants pairs of digits, and takes upper case).
 */
export const IS_ODD_ID = "(unhex(id, '-') is null or id <> lower(id))";

/**
 * The indexes of `episode` that are made after the first reading, because sorting everything at once is faster.
 * `episode_listed` is in the order of a list and has all columns that a filter asks for, so that finding a page and
 * counting read nothing else. `episode_odd_id` has the few ids in which any text may be found.
 */
export const INDEXES = {
  episode_by_id: 'create unique index if not exists episode_by_id on episode (id)',
  episode_deleted:
    'create index if not exists episode_deleted on episode (started_at, number) where deleted = 1',
  episode_listed: `create index if not exists episode_listed on episode (started_at, number, id, state, fixed, paper,
    leaked, stars, agent, collaborator, collaborator_kind, pack, collection, task, choices, verdicts, review, raters,
    player, tags, title, note)
    where ${VISIBLE}`,
  episode_odd_id: `create index if not exists episode_odd_id on episode (id) where ${IS_ODD_ID}`,
};

export const TABLES = [
  'segment',
  'name',
  'episode',
  'lines',
  'task_line',
  'consent',
  'assignment',
  'older',
  'problem',
];

/** The check sum keeps two branches with the same version from reading each other's files. */
export const FORMAT = `${VERSION}.${crc32(SCHEMA + Object.values(INDEXES).join()).toString(16)}`;

/** The reading state of the segments in a file, none if it is new or empty; or why it cannot be used. */
export function lookInto(file: string, readOnly = false): ReadSegment[] | { readonly reason: string } {
  for (const each of filesOf(file)) {
    const found = lstatSync(each, { throwIfNoEntry: false });
    const what = found && kindOf(found);
    if (what !== undefined) return { reason: `${each} is ${what}` };
  }
  const database = openDatabase(file, readOnly);
  try {
    if (database.prepare('select 1 from sqlite_schema').get() === undefined) return [];
    const version = database.prepare("select value from meta where name = 'version'").get()?.value;
    if (version !== FORMAT) return { reason: 'it was written by another version' };
    const check = Object.values(database.prepare('pragma quick_check(1)').get() ?? {})[0];
    if (check !== 'ok') return { reason: `it is damaged (${String(check)})` };
    const rows = database.prepare('select state from segment order by number').all();
    return rows.map(({ state }) => JSON.parse(String(state)) as ReadSegment);
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    return { reason: `it is damaged (${damage})` };
  } finally {
    database.close();
  }
}

/** With those that SQLite keeps beside it. */
const filesOf = (file: string): string[] => ['', '-wal', '-shm', '-journal'].map((suffix) => file + suffix);

export async function removeIndex(file: string): Promise<void> {
  for (const each of filesOf(file)) await rm(each, { force: true });
}
