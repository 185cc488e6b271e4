import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { kindOf } from '../../regularFile';
import type { ReadSegment } from '../segment/files';
import { COLUMNS } from './rows';
import type * as Sqlite from 'node:sqlite';

/** Increase it whenever the content or its meaning changes. */
const VERSION = 9;

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
  create table noted (kind text not null, what text not null);
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
 * The indexes of `episode` that are made after the first reading, because sorting everything at once is faster.
 * `episode_listed` is in the order of a list and has all columns that a filter asks for, so that finding a page and
 * counting read nothing else.
 */
export const INDEXES = {
  episode_by_id: 'create unique index if not exists episode_by_id on episode (id)',
  episode_deleted:
    'create index if not exists episode_deleted on episode (started_at, number) where deleted = 1',
  episode_forks: `create index if not exists episode_forks on episode (parent, number)
    where parent is not null and ${VISIBLE}`,
  episode_listed: `create index if not exists episode_listed on episode (started_at, number, id, state, fixed, paper,
    leaked, stars, agent, collaborator, collaborator_kind, pack, collection, task, choices, verdicts, review, raters,
    player, tags, title, note)
    where ${VISIBLE}`,
};

export const TABLES = ['segment', 'name', 'episode', 'lines', 'task_line', 'noted'];

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

const filesOf = (file: string): string[] => ['', '-wal', '-shm', '-journal'].map((suffix) => file + suffix);

export async function removeIndex(file: string): Promise<void> {
  for (const each of filesOf(file)) await rm(each, { force: true });
}

export type Database = Sqlite.DatabaseSync;

/**
 * Opens a database with Node's own SQLite, loaded at the first call. Older Nodes warn on stderr that it is
 * experimental, which does not concern the user of a command; only that warning is suppressed.
 */
export function openDatabase(file: string, readOnly = false): Database {
  const emitWarning = process.emitWarning.bind(process) as (...warning: unknown[]) => void;
  process.emitWarning = (...warning: unknown[]): void => {
    if (!String(warning[0]).includes('SQLite')) emitWarning(...warning);
  };
  try {
    return new (process.getBuiltinModule('node:sqlite').DatabaseSync)(file, { readOnly });
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Undefined if the error does not say that the file is damaged. */
export function damageOf(error: unknown): string | undefined {
  const isDamage = error instanceof Error && 'errcode' in error && DAMAGE.has(Number(error.errcode) & 0xff);
  return isDamage ? error.message : undefined;
}

/** SQLITE_ERROR (a table or column is missing), SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE = new Set([1, 11, 26]);

export function isSqliteError(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error;
}

/** Waits for the transactions of other processes. */
export function transaction(database: Database, write: () => void): void {
  database.exec('begin immediate');
  try {
    write();
    database.exec('commit');
  } catch (error) {
    rollback(database);
    throw error;
  }
}

export function rollback(database: Database): void {
  try {
    database.exec('rollback');
  } catch (error) {
    // SQLite has already rolled back, e.g. after a full disk, and has said why.
    if (!isSqliteError(error)) throw error;
  }
}
