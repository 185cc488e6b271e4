import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../fault';
import type { StatementSync } from 'node:sqlite';
import type { Assigning } from '../assignments';
import type { Consent } from '../consent';
import type { OlderSegment, LineProblem, ReadSegment } from '../segment/files';
import { closed } from '../segment/writer';
import { COLUMNS, usedAs, type Column, type Row, type TextColumn } from './rows';
import {
  FORMAT,
  INDEXES,
  lookInto,
  removeIndex,
  SCHEMA,
  TABLES,
  isSqliteError,
  openDatabase,
  rollback,
  transaction,
  type Database,
} from './schema';

/** Thrown if another process has written to the index since this one last read it: reload and try again. */
export class Overtaken extends Error {}

type Value = string | number | Uint8Array | null;

/** Segment number, first byte and length, repeated for each range. */
export type Ranges = number[];

/**
 * Numbers in one row of `lines`. A dialogue may go on in thousands of segments, and each writes only the last row again.
 */
const NUMBERS_PER_PART = 3 * 32;

/**
 * The SQLite file of the index, which several processes may open. Each writes in short transactions, and only if no one
 * else has written since it last read (`reload`), because what it writes is derived from that.
 */
export class IndexStore {
  /** Reading state of each segment; a segment's number is its position here. */
  segments: ReadSegment[] = [];
  older: Record<string, OlderSegment> = {};
  consents: Consent[] = [];
  assignments: Assigning[] = [];
  problems: LineProblem[] = [];
  /** Latest time of any consent, assignment or event of an episode, in milliseconds since 1970; 0 if there is none. */
  newest = 0;
  next = 0;
  private saved = new Map<string, string>();
  /** Texts and their numbers in the table `name`, as far as they were asked for. */
  private readonly texts = new Map<number, string>();
  private readonly numbers = new Map<string, KnownName>();
  private readonly statements = new Map<string, StatementSync>();
  private known = { revision: -1, values: new Map<string, unknown>() };
  revision = -1;
  private isWriting = false;
  isClosed = false;

  private constructor(
    readonly database: Database,
    readonly isInMemory: boolean,
  ) {}

  static inMemory(): IndexStore {
    return IndexStore.over(openDatabase(':memory:'), true);
  }

  /**
   * Opens or creates the file. If that fails (a read-only folder, or one without locks), the index is in memory, and
   * `unusable` says why. `note` says why the previous content was discarded.
   */
  static async open(
    file: string,
  ): Promise<{ readonly store: IndexStore; readonly note?: string; readonly unusable?: string }> {
    let note: string | undefined;
    try {
      await mkdir(dirname(file), { recursive: true });
      const found = lookInto(file);
      if ('reason' in found) {
        note = found.reason;
        await removeIndex(file);
      }
      return { store: IndexStore.over(openDatabase(file), false), ...(note !== undefined && { note }) };
    } catch (error) {
      const isExpected = isSqliteError(error) || (error instanceof Error && 'syscall' in error);
      if (!isExpected) throw error;
      return { store: IndexStore.inMemory(), unusable: messageOf(error) };
    }
  }

  private static over(database: Database, isInMemory: boolean): IndexStore {
    database.exec('pragma busy_timeout = 10000; pragma cache_size = -4000;');
    if (!isInMemory)
      database.exec(
        'pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 8000',
      );
    transaction(database, () => {
      if (database.prepare('select 1 from sqlite_schema').get() !== undefined) return;
      database.exec(SCHEMA);
      database.prepare("insert into meta values ('version', ?), ('revision', 0)").run(FORMAT);
    });
    const store = new IndexStore(database, isInMemory);
    store.reload();
    return store;
  }

  /** Runs a query and caches its statement, so its text must not vary. */
  all<T = Row>(sql: string, ...values: Value[]): T[] {
    return this.statement(sql).all(...values) as T[];
  }

  /** Yields row by row; until it ends, the caller must not await anything. */
  each<T = Row>(sql: string, ...values: Value[]): IterableIterator<T> {
    return this.statement(sql).iterate(...values) as IterableIterator<T>;
  }

  get<T = Row>(sql: string, ...values: Value[]): T | undefined {
    return this.statement(sql).get(...values) as T | undefined;
  }

  /** Computes something once, until the index changes; `key` names it. */
  once<T>(key: string, compute: () => T): T {
    if (this.known.revision !== this.revision) this.known = { revision: this.revision, values: new Map() };
    const { values } = this.known;
    if (!values.has(key)) values.set(key, compute());
    return values.get(key) as T;
  }

  /**
   * Writes in a transaction, which the first write opens and `commit` ends. Nothing may be awaited meanwhile: another
   * connection of this process would wait for it in vain.
   * @throws {Overtaken} if another process has written since the last read; then nothing is written
   */
  write(sql: string, ...values: Value[]): void {
    this.begin();
    this.statement(sql).run(...values);
  }

  /** Ends the open transaction, and saves the state of a segment with it. */
  commit(segment?: number): void {
    const read = segment === undefined ? undefined : this.segments[segment]!;
    const state = read && JSON.stringify(read);
    if (read && this.saved.get(read.name) !== state) {
      this.write('insert or replace into segment values (?, ?, ?)', segment!, read.name, state!);
      this.saved.set(read.name, state!);
    }
    if (!this.isWriting) return;
    this.setMeta('newest', this.newest);
    this.setMeta('revision', this.revision + 1);
    this.database.exec('commit');
    this.isWriting = false;
    this.revision += 1;
  }

  private begin(): void {
    if (this.isWriting) return;
    this.database.exec('begin immediate');
    this.isWriting = true;
    if (this.isOvertaken) throw new Overtaken();
  }

  /** In the order they were logged. */
  ranges(episode: number): Ranges {
    const sql = 'select ranges from lines where episode = ? order by part';
    return this.all<{ ranges: string }>(sql, episode).flatMap(({ ranges }) => JSON.parse(ranges) as Ranges);
  }

  lastPart(episode: number): LinesPart {
    const sql = 'select part, ranges from lines where episode = ? order by part desc limit 1';
    const last = this.get<{ part: number; ranges: string }>(sql, episode);
    return last ? { part: last.part, ranges: JSON.parse(last.ranges) as Ranges } : { part: 0, ranges: [] };
  }

  /** Returns the last part, to which the ranges that follow are added. */
  putRanges(episode: number, { part, ranges }: LinesPart): LinesPart {
    for (let from = 0; ; from += NUMBERS_PER_PART, part += 1) {
      const some = ranges.slice(from, from + NUMBERS_PER_PART);
      this.write('insert or replace into lines values (?, ?, ?)', episode, part, JSON.stringify(some));
      if (from + NUMBERS_PER_PART >= ranges.length) return { part, ranges: some };
    }
  }

  get isOvertaken(): boolean {
    return this.meta('revision') !== this.revision;
  }

  meta(name: string): unknown {
    return this.get<{ value: unknown }>('select value from meta where name = ?', name)?.value;
  }

  /** Takes back the open transaction, and reads again what is kept in memory. */
  reload(): void {
    if (this.isWriting) rollback(this.database);
    this.isWriting = false;
    this.texts.clear();
    this.numbers.clear();
    this.known.revision = -1;
    this.revision = Number(this.meta('revision'));
    const rows = this.all<{ name: string; state: string }>('select name, state from segment order by number');
    this.saved = new Map(rows.map(({ name, state }) => [name, state]));
    this.segments = rows.map(({ state }) => JSON.parse(state) as ReadSegment);
    this.older = Object.fromEntries(this.noted('older').map((each) => [each.name, each]));
    this.newest = Number(this.meta('newest') ?? 0);
    this.next = this.get<{ next: number | null }>('select max(number) + 1 as next from episode')?.next ?? 0;
    this.consents = this.noted('consent');
    this.assignments = this.noted('assignment');
    this.problems = this.noted('problem');
  }

  setMeta(name: string, value: string | number): void {
    this.write('insert or replace into meta values (?, ?)', name, value);
  }

  putEpisode(row: Partial<Row>): void {
    this.begin();
    this.statement(PUT).run(...COLUMN_NAMES.map((column, index) => row[column] ?? DEFAULTS[index]!));
  }

  /**
   * Makes the indexes that a newly built index still lacks. Queries then get more memory (16 MB) than the building, which
   * hardly reads a page again.
   */
  makeFindable(): void {
    for (const sql of Object.values(INDEXES)) this.database.exec(sql);
    this.database.exec('pragma cache_size = -16000');
  }

  addProblem(problem: LineProblem): void {
    this.note('problem', problem);
    this.problems.push(problem);
  }

  addConsent(consent: Consent): void {
    this.note('consent', consent);
    this.consents.push(consent);
  }

  addAssignment(line: Assigning): void {
    this.note('assignment', line);
    this.assignments.push(line);
  }

  addOlder(noted: readonly OlderSegment[]): void {
    for (const each of noted) {
      this.older[each.name] = each;
      this.note('older', each);
    }
  }

  private note<Kind extends keyof Noted>(kind: Kind, what: Noted[Kind]): void {
    this.write('insert into noted values (?, ?)', kind, JSON.stringify(what));
  }

  private noted<Kind extends keyof Noted>(kind: Kind): Noted[Kind][] {
    const rows = this.all<{ what: string }>('select what from noted where kind = ? order by rowid', kind);
    return rows.map(({ what }) => JSON.parse(what) as Noted[Kind]);
  }

  /**
   * Writes the text if it is new.
   * @param column where the text will stand, which is noted
   */
  number(text: string, column?: TextColumn): number {
    const use = column === undefined ? 0 : usedAs(column);
    let known = this.numbers.get(text);
    if (known === undefined) {
      const lowered = text.toLowerCase();
      this.write(ADD_NAME, text, use, lowered === text ? null : lowered);
      known = this.get<KnownName>('select number, used from name where text = ?', text)!;
      this.numbers.set(text, known);
    }
    if ((known.used & use) === 0 && use !== 0) {
      known.used |= use;
      this.write('update name set used = used | ? where number = ?', use, known.number);
    }
    return known.number;
  }

  text(number: number): string {
    let text = this.texts.get(number);
    if (text === undefined) {
      ({ text } = this.get<{ text: string }>('select text from name where number = ?', number)!);
      this.texts.set(number, text);
    }
    return text;
  }

  /** Leaves no trace of the content in the file. */
  clear(): void {
    transaction(this.database, () => {
      for (const table of TABLES) this.database.exec(`delete from ${table}`);
      for (const index of Object.keys(INDEXES)) this.database.exec(`drop index if exists ${index}`);
      this.database.exec("delete from meta where name not in ('version', 'revision')");
      const revision = Number(this.meta('revision')) + 1;
      const sql = 'insert or replace into meta values (?, ?), (?, ?)';
      this.database.prepare(sql).run('revision', revision, 'cleared', revision);
    });
    this.database.exec('vacuum');
    if (!this.isInMemory) this.database.exec('pragma wal_checkpoint(truncate)');
    this.reload();
  }

  /**
   * Closes the database. It first leaves WAL mode, unless another process has the file open: a single file can then be
   * read without writing.
   */
  close(): void {
    if (!this.isInMemory) {
      this.database.exec('pragma busy_timeout = 0');
      try {
        this.database.exec('pragma journal_mode = delete');
      } catch (error) {
        if (!isSqliteError(error)) throw error;
      }
    }
    this.database.close();
    this.isClosed = true;
  }

  private statement(sql: string): StatementSync {
    if (this.isClosed) throw closed();
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = this.database.prepare(sql)));
    return statement;
  }
}

/** Found in the lines, besides the episodes, and kept in the order of the lines. */
interface Noted {
  readonly consent: Consent;
  readonly assignment: Assigning;
  readonly older: OlderSegment;
  readonly problem: LineProblem;
}

interface LinesPart {
  /** Number of the row of `lines` in which the ranges begin. */
  readonly part: number;
  readonly ranges: Ranges;
}

/** `used`: the columns that have had the text; see `usedAs`. */
interface KnownName {
  readonly number: number;
  used: number;
}

/** `lowered` is the text in lower case, if that is another one: SQLite knows only the letters of ASCII. */
const ADD_NAME = 'insert or ignore into name (text, used, lowered) values (?, ?, ?)';

const COLUMN_NAMES = Object.keys(COLUMNS) as Column[];
const DEFAULTS = Object.values(COLUMNS).map((type) => (type.includes('default 0') ? 0 : null));
const PUT = `insert or replace into episode values (${COLUMN_NAMES.map(() => '?').join(', ')})`;
