import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Fault, messageOf } from '../../fault';
import { unfinishedErasure } from '../erase';
import { ifThere, isErrorCode } from '../files';
import {
  changedOlder,
  segmentNames,
  tornLines,
  whyStale,
  type LineProblem,
  type ReadLog,
} from '../segment/files';
import { closed } from '../segment/writer';
import { LogIndex } from './logIndex';
import { removeIndex, isSqliteError } from './schema';
import { IndexStore } from './store';

/**
 * Gets the ids of the changed episodes, or none if the whole log was read again or packs were assigned. Must not throw.
 */
export type ChangeListener = (episodes: readonly string[]) => void;

/**
 * Each machine has its own index, because SQLite's WAL mode needs memory that all processes share. SQLite keeps further
 * files beside it while it is open.
 */
export const indexFileOf = (folder: string, host = hostname()): string =>
  join(folder, 'index', `trajectories.${encodeURIComponent(host)}.sqlite`);

/** Opens the index of a log, reads new lines, and rebuilds it if it does not match the log. */
export class KeptIndex {
  private readonly listeners = new Set<ChangeListener>();
  private torn: LineProblem[] = [];
  private readonly said: string[] = [];
  private queue: Promise<unknown> = Promise.resolve();
  private isOpen = false;
  /** Number of lines on assigned packs that listeners know of. */
  private assignments = 0;

  private constructor(
    private readonly logFolder: string,
    private readonly file: string,
    private index: LogIndex,
    private readonly onPiece: () => void,
  ) {}

  /** `notes` says why the whole log was read. */
  static async open(folder: string, logFolder: string, signal?: AbortSignal): Promise<KeptIndex> {
    // Only while it is opened: what is written after an abort must still be indexed.
    let isOpening = true;
    const onPiece = (): void => {
      if (isOpening) signal?.throwIfAborted();
    };
    const index = new LogIndex(logFolder, IndexStore.inMemory(), onPiece);
    const kept = new KeptIndex(logFolder, indexFileOf(folder), index, onPiece);
    await kept.exclusive(() => kept.catchUp(true));
    isOpening = false;
    const erasing = await unfinishedErasure(logFolder);
    if (erasing) {
      kept.said.push(
        `Erasing the data of ${erasing.pseudonym} was interrupted. Run it again: until then some of it is still in the log, and is hidden.`,
      );
    }
    return kept;
  }

  /** Replaced when the log gets its first segment. */
  get store(): IndexStore {
    return this.index.store;
  }

  get problems(): readonly LineProblem[] {
    return [...this.store.problems, ...changedOlder(this.store), ...this.torn];
  }

  get notes(): readonly string[] {
    const unknown = this.store.segments.reduce((sum, segment) => sum + segment.unknown, 0);
    const lines = unknown === 1 ? '1 line was' : `${unknown} lines were`;
    return [
      ...this.said,
      ...(unknown === 0 ? [] : [`${lines} written by a newer Tandem; they are kept and passed over.`]),
      ...erasedAgain(this.store),
    ];
  }

  isErased(episode: string): boolean {
    return this.index.isErased(episode);
  }

  readErased(): Promise<void> {
    return this.exclusive(() => this.index.readErased());
  }

  onDidChange(listener: ChangeListener): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** Rebuilds the index first if another process has rewritten the log, which makes known byte ranges invalid. */
  async fitting(): Promise<IndexStore> {
    if (this.store.isClosed) throw closed();
    if ((await whyStale(this.logFolder, this.store.segments)) !== undefined) await this.refresh();
    return this.store;
  }

  refresh(): Promise<void> {
    return this.exclusive(() => this.catchUp());
  }

  takeIn(segment: string): Promise<void> {
    return this.exclusive(async () => {
      const wasOpen = this.isOpen;
      await this.openFile();
      await this.readOn(wasOpen ? segment : undefined);
    });
  }

  /**
   * Runs `rewrite`, which rewrites the log, and then reads the whole log. Its argument `drop` removes all content of
   * the index and its folder.
   */
  async rewritten<T>(rewrite: (drop: () => Promise<void>) => Promise<T>): Promise<T> {
    const result = await this.exclusive(async () => {
      const done = await rewrite(async () => {
        await this.openFile();
        this.index.clear();
        await removeOthers(this.file);
      });
      // The index of another machine is gone, and with it what that machine has read of the log meanwhile.
      await removeOthers(this.file);
      this.index.clear();
      await this.index.catchUp();
      this.index.changed.clear();
      await this.hideErased();
      return done;
    });
    this.tell([]);
    return result;
  }

  close(): Promise<void> {
    return this.exclusive(() => {
      this.store.close();
      return Promise.resolve();
    });
  }

  /**
   * Runs a query. If SQLite can no longer read its file, the caller gets the error, and once the index is rebuilt in
   * memory, listeners are told that everything has changed.
   */
  ask<T>(question: (store: IndexStore) => T): T {
    try {
      return question(this.store);
    } catch (error) {
      if (this.isOfFile(error)) void this.exclusive(() => this.goOnInMemory(error));
      throw error;
    }
  }

  /**
   * Runs work alone. If SQLite fails on its file (it is damaged, the disk is full), the index moves into memory and the
   * work runs again.
   */
  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(async () => {
      if (this.store.isClosed) throw closed();
      try {
        return await work();
      } catch (error) {
        if (!this.isOfFile(error)) throw error;
        await this.goOnInMemory(error);
        return work();
      }
    });
    this.queue = result.catch(() => undefined); // the caller of the work gets its error
    return result;
  }

  private isOfFile(error: unknown): boolean {
    return isSqliteError(error) && !this.store.isInMemory;
  }

  private async goOnInMemory(error: unknown): Promise<void> {
    this.noteUnusable(messageOf(error));
    this.replace(IndexStore.inMemory());
    await this.catchUp();
    this.tell([]);
  }

  /** Opens the index file, but creates it only if the log has a segment: reading a folder must not change it. */
  private async openFile(): Promise<void> {
    if (this.isOpen) return;
    const isWanted =
      (await segmentNames(this.logFolder)).length > 0 || (await ifThere(() => stat(this.file)));
    if (!isWanted) return;
    const { store, note, unusable } = await IndexStore.open(this.file);
    this.isOpen = true;
    if (note !== undefined) this.noteRebuilt(note);
    if (unusable !== undefined) this.noteUnusable(unusable);
    this.replace(store);
    await removeOld(this.file).catch(() => undefined);
  }

  private replace(store: IndexStore): void {
    this.store.close();
    this.index = new LogIndex(this.logFolder, store, this.onPiece);
    // Listeners do not know the new store's episodes yet.
    if (this.listeners.size === 0) return;
    for (const { id } of store.all('select id from episode')) this.index.changed.add(String(id));
  }

  /** @param thoroughly also checks whether the log was edited while no process was watching it */
  private async catchUp(thoroughly = false): Promise<void> {
    await this.openFile();
    this.index.noticeOthers();
    const stale = await whyStale(this.logFolder, this.store.segments, thoroughly);
    if (stale !== undefined) {
      this.noteRebuilt(stale);
      this.index.clear();
    }
    await this.readOn(undefined, stale !== undefined);
    await this.hideErased();
    this.torn = await tornLines(this.logFolder, this.store.segments);
  }

  private async readOn(segment?: string, isAnew = false): Promise<void> {
    const { changed } = this.index;
    const isAll = (await this.index.catchUp(segment)) || isAnew;
    const ids = [...changed];
    changed.clear();
    const { length } = this.store.assignments;
    const isAssigned = length !== this.assignments;
    this.assignments = length;
    if (isAll || isAssigned) this.tell([]);
    else if (ids.length > 0) this.tell(ids);
  }

  private async hideErased(): Promise<void> {
    const episodes = (await unfinishedErasure(this.logFolder))?.episodes ?? [];
    if (episodes.length === 0) return;
    const ids = JSON.stringify(episodes);
    const sql = 'update episode set deleted = 1 where deleted = 0 and id in (select value from json_each(?))';
    this.store.database.prepare(sql).run(ids);
  }

  private tell(episodes: readonly string[]): void {
    for (const listener of this.listeners) listener(episodes);
  }

  private noteUnusable(reason: string): void {
    this.said.push(`The file of the log's index cannot be used, so the index is in memory: ${reason}.`);
  }

  private noteRebuilt(reason: string): void {
    this.said.push(`The index of the log was rebuilt: ${reason}.`);
  }
}

export function erasedAgain({ segments }: ReadLog): string[] {
  return segments.flatMap(({ name, erased = 0 }) =>
    erased === 0
      ? []
      : [
          `${name} holds ${erased === 1 ? '1 line' : `${erased} lines`} that tandem erase took out of this log before: it is a copy of an older file. They are passed over, and the next tandem erase of anybody takes them out.`,
        ],
  );
}

/**
 * Removes all other files made from the log, the indexes of other machines too; the index itself is empty, and may be
 * open in several processes.
 * @throws {Fault} `trajectory/log-in-use` if a machine has its index open, and the share lets no one remove it
 */
async function removeOthers(file: string): Promise<void> {
  const folder = dirname(file);
  const own = ['', '-wal', '-shm', '-journal'].map((suffix) => basename(file) + suffix);
  for (const name of (await ifThere(() => readdir(folder))) ?? []) {
    if (own.includes(name)) continue;
    try {
      await rm(join(folder, name), { recursive: true, force: true });
    } catch (cause) {
      if (!isErrorCode(cause, 'EBUSY', 'EPERM', 'EACCES')) throw cause;
      const message = `${join(folder, name)}, which was made from the log, cannot be removed: ${messageOf(cause)}. Close the Tandem that has it open, or give permission, and run the command again.`;
      throw new Fault('trajectory/log-in-use', message, { cause });
    }
  }
}

/** The index of another machine is removed after 30 days without a write: each rebuilt container has another name. */
const OLD_MS = 30 * 24 * 60 * 60_000;

async function removeOld(file: string): Promise<void> {
  const folder = dirname(file);
  for (const name of await readdir(folder)) {
    const other = join(folder, name);
    if (!name.endsWith('.sqlite') || other === file) continue;
    const written = [other, `${other}-wal`].map(
      async (each) => (await ifThere(() => stat(each)))?.mtimeMs ?? 0,
    );
    if (Date.now() - Math.max(...(await Promise.all(written))) > OLD_MS) await removeIndex(other);
  }
}
