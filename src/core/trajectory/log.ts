import { isDeepStrictEqual } from 'node:util';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Task } from '../task/task';
import { Fault, messageOf } from '../fault';
import { claimIn, type Claim } from './claim';
import { erase, refuseWhileErasing, unfinishedErasure, type Erasure } from './erase';
import { LOG_VERSION, type EventKind, type EventOf, type LogEvent, type NewEvent } from './event';
import { catchUp, settle, tornLines, whyStale } from './index/follow';
import { readIndexFile, writeIndexFile } from './index/indexFile';
import { LogIndex, type Consent, type Problem } from './index/logIndex';
import * as query from './index/query';
import { EpisodeReader } from './index/reader';
import { SegmentWriter } from './segment/writer';
import type { Trajectory, TrajectorySummary } from './trajectory';

export type { Problem } from './index/logIndex';
export type {
  CollectedRollout,
  ListOptions,
  TrajectoryCounts,
  TrajectoryFilter,
  TrajectoryList,
} from './index/query';
export type { Claim } from './claim';
export type { Erasure } from './erase';

export interface LogOptions {
  /** A new segment is begun once one has this size in bytes. */
  readonly segmentBytes?: number;
}

/** Called with the ids of the episodes that changed; with none when the whole log was read anew. Must not throw. */
export type ChangeListener = (episodes: readonly string[]) => void;

const SEGMENT_BYTES = 64 * 1024 * 1024;
/** An index that is behind by more than this is worth writing at once instead of when the log is closed. */
const SAVE_AFTER_BYTES = 32 * 1024 * 1024;

/**
 * The trajectory log of a data folder: append-only segments under `log/`, which are the only truth, and an index of
 * them in memory and under `index/`. Each process that appends writes segments of its own, so that several windows and
 * a command line can use one folder at once; `refresh` reads what the others appended.
 */
export class TrajectoryLog {
  private readonly writer: SegmentWriter;
  private readonly tasks = new Map<string, Task>();
  private readonly listeners = new Set<ChangeListener>();
  private readonly claims = new Set<Claim>();
  private order: Uint32Array | undefined;
  private torn: Problem[] = [];
  private readonly said: string[] = [];
  /** What changes the index happens one after the other. */
  private queue: Promise<unknown> = Promise.resolve();
  private unsavedBytes = 0;
  private lastTime = 0;
  private isClosed = false;

  private constructor(
    private readonly folder: string,
    private index: LogIndex,
    options: LogOptions,
  ) {
    this.writer = new SegmentWriter({
      folder: this.logFolder,
      segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
      onWritten: (segment, lines, offset) => this.takeIn(segment, lines, offset),
      beforeSegment: () => refuseWhileErasing(this.logFolder),
    });
  }

  /**
   * Opens the log of a data folder (`.tandem`), which need not exist: it is made by the first append. Reads the index
   * file and what the log holds beyond it, or all of the log when the index is missing or does not fit; `notes` then
   * says why.
   */
  static async open(folder: string, options: LogOptions = {}): Promise<TrajectoryLog> {
    const saved = await readIndexFile(indexFileOf(folder));
    const usable = saved && !('reason' in saved) ? new LogIndex(saved) : undefined;
    const log = new TrajectoryLog(folder, usable ?? LogIndex.empty(), options);
    if (saved && 'reason' in saved) log.noteRebuilt(saved.reason);
    await log.refresh();
    const erasing = await unfinishedErasure(log.logFolder);
    if (erasing) {
      log.said.push(
        `Erasing the data of ${erasing.pseudonym} was interrupted. Run it again: until then some of it is still in the log, and is hidden.`,
      );
    }
    log.index.isFollowed = true;
    return log;
  }

  /** Lines that cannot be read: they are passed over, and everything else is there. */
  get problems(): readonly Problem[] {
    return [...this.index.parts.problems, ...this.torn];
  }

  /** What the person who opened the log may want to know, in sentences. */
  get notes(): readonly string[] {
    const unknown = this.index.parts.segments.reduce((sum, segment) => sum + segment.unknown, 0);
    if (unknown === 0) return this.said;
    const lines = unknown === 1 ? '1 line was' : `${unknown} lines were`;
    return [...this.said, `${lines} written by a newer Tandem; they are kept and passed over.`];
  }

  /** Consent that developers gave, from the oldest. */
  get consents(): readonly Consent[] {
    return this.index.parts.consents;
  }

  /**
   * Makes a task known to the log, which writes it once into each segment before the first episode that plays it.
   * Resolves at once; the task is as durable as the episode's start.
   */
  recordTask(task: Task): Promise<void> {
    const known = this.tasks.get(task.id);
    if (!known || !isDeepStrictEqual(known, task)) this.tasks.set(task.id, task);
    return Promise.resolve();
  }

  /**
   * Appends one event and returns it as it stands in the log. With `durable` it is on the disk when this resolves.
   * @throws {Fault} `trajectory/task-not-recorded`, `trajectory/too-long`, `trajectory/not-written`,
   * `trajectory/log-in-use` while an annotator's data are being erased, `trajectory/closed`
   */
  async append<E extends NewEvent>(
    event: E,
    options: { readonly durable?: boolean } = {},
  ): Promise<EventOf<E['event']>> {
    const [appended] = await this.appendAll([event], options);
    return appended as EventOf<E['event'] & EventKind>;
  }

  /** Appends several events that stand next to each other in the log. Faults as `append`. */
  async appendAll(
    events: readonly NewEvent[],
    options: { readonly durable?: boolean } = {},
  ): Promise<LogEvent[]> {
    if (this.isClosed) throw closed();
    const tasks = events.flatMap((event) => (event.event === 'episode-started' ? this.taskOf(event) : []));
    const at = this.now();
    const stamped = events.map((event) => ({ version: LOG_VERSION, at, ...event }));
    await this.writer.append(stamped, tasks, options.durable ?? false);
    return stamped;
  }

  /** Resolves when everything that was appended before is on the disk. */
  sync(): Promise<void> {
    return this.writer.sync();
  }

  /** The whole trajectory; undefined when there is none of that id, or it was deleted. */
  async trajectory(id: string): Promise<Trajectory | undefined> {
    for await (const trajectory of this.trajectories([id])) return trajectory;
    return undefined;
  }

  /**
   * The trajectories of these ids in their order; ids that the log does not have, or no longer, are passed over.
   * @throws {Fault} `trajectory/task-missing`
   */
  async *trajectories(ids: Iterable<string>): AsyncGenerator<Trajectory> {
    // Another process may have erased something: the byte ranges that are known here would then be wrong.
    if ((await whyStale(this.logFolder, this.index)) !== undefined) await this.refresh();
    const { index } = this;
    const { episodes } = index.parts;
    const reader = new EpisodeReader(this.logFolder, index);
    try {
      for (const id of ids) {
        const row = episodes.find(id);
        if (row === undefined || !episodes.isVisible(row)) continue;
        const trajectory = await reader.trajectory(row);
        if (trajectory) yield trajectory;
      }
    } finally {
      await reader.close();
    }
  }

  /** What the index knows of a trajectory; undefined when there is none of that id, or it was deleted. */
  summary(id: string): TrajectorySummary | undefined {
    const { episodes } = this.index.parts;
    const row = episodes.find(id);
    return row === undefined || !episodes.isVisible(row) ? undefined : episodes.summary(row);
  }

  isDeleted(id: string): boolean {
    const row = this.index.parts.episodes.find(id);
    return row !== undefined && this.index.parts.episodes.isDeleted(row);
  }

  /** One page of the trajectories, with how many there are in all pages. */
  list(options: query.ListOptions): query.TrajectoryList {
    return query.page(this.index.parts.episodes, this.timeOrder(), options);
  }

  /** How many there are, how many of them are graded, succeeded and leaked. */
  count(filter: query.TrajectoryFilter = {}): query.TrajectoryCounts {
    return query.count(this.index.parts.episodes, this.timeOrder(), filter);
  }

  /** How many episodes are marked as deleted. */
  get deletedCount(): number {
    const { episodes } = this.index.parts;
    let deleted = 0;
    for (let row = 0; row < episodes.length; row += 1) if (episodes.isDeleted(row)) deleted += 1;
    return deleted;
  }

  /** What a collection has of its rollouts, by `<task id>#<rollout>`. */
  collected(collection: string): Map<string, query.CollectedRollout> {
    return query.collectedRollouts(this.index.parts.episodes, this.timeOrder(), collection);
  }

  /**
   * Claims the right to play something, so that no two processes play the same. Released by `release`, by `close`, and
   * when this process dies. What whoever had it before has logged is read before this resolves.
   * @param name of what is claimed, e.g. `collection-<name>` or `episode-<id>`
   * @param what opens the sentence for a second claimant, e.g. "This dialogue"
   * @throws {Fault} `trajectory/claimed` when somebody has it, also in this process; `trajectory/not-written`
   */
  async claim(name: string, what: string): Promise<Claim> {
    if (this.isClosed) throw closed();
    const held = await claimIn(join(this.folder, 'claims'), name, what);
    const claim: Claim = {
      release: async () => {
        this.claims.delete(claim);
        await held.release();
      },
    };
    this.claims.add(claim);
    try {
      await this.refresh();
    } catch (error) {
      await claim.release();
      throw error;
    }
    return claim;
  }

  /** Reads what other processes appended since. */
  refresh(): Promise<void> {
    return this.exclusive(() => this.catchUp());
  }

  /** Calls the listener after each change, one's own and those that `refresh` finds. */
  onDidChange(listener: ChangeListener): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** Hides a trajectory from every list. Its lines stay in the log, which only grows. */
  async deleteTrajectory(id: string): Promise<void> {
    if (!this.summary(id)) {
      throw new Fault('trajectory/unknown', `There is no trajectory ${id} in the log of ${this.folder}.`);
    }
    await this.append({ event: 'deleted', episode: id }, { durable: true });
  }

  /**
   * Takes everything of a developer out of the log: each episode in which that pseudonym sat in the collaborator's
   * seat, with all its events, and the consent and ratings given under it. The lines of other episodes stay as they
   * are, byte for byte. May be run again after it was interrupted, at any point.
   * @throws {Fault} `trajectory/log-in-use` when another process writes to the log
   */
  async eraseAnnotator(pseudonym: string): Promise<Erasure> {
    const erased = await this.writer.paused(() =>
      this.exclusive(async () => {
        const done = await erase(this.logFolder, pseudonym, () =>
          rm(dirname(indexFileOf(this.folder)), { recursive: true, force: true }),
        );
        await this.rebuild();
        await this.save();
        return done;
      }),
    );
    this.tell([]);
    return erased;
  }

  /** Writes what is pending, closes the segment, gives claims back and saves the index. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.writer.close();
    for (const claim of this.claims) await claim.release();
    await this.exclusive(() => (this.unsavedBytes > 0 ? this.trySave() : Promise.resolve()));
  }

  private get logFolder(): string {
    return join(this.folder, 'log');
  }

  private taskOf(event: { readonly episode: string; readonly task: string }): Task {
    const task = this.tasks.get(event.task);
    if (task) return task;
    const message = `Episode ${event.episode} plays task ${event.task}, which was not recorded before.`;
    throw new Fault('trajectory/task-not-recorded', message);
  }

  /** Never runs backwards, so that the events of one process are in the order of their times. */
  private now(): string {
    this.lastTime = Math.max(this.lastTime, Date.now());
    return new Date(this.lastTime).toISOString();
  }

  private timeOrder(): Uint32Array {
    return (this.order ??= query.inTimeOrder(this.index.parts.episodes));
  }

  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => undefined); // whoever asked for the work learns of its failure
    return result;
  }

  /** Lines of our own, just written. */
  private takeIn(segment: string, lines: readonly Buffer[], offset: number): Promise<void> {
    return this.exclusive(async () => {
      const number = this.index.segment(segment);
      let at = offset;
      for (const line of lines) {
        this.index.addLine(number, line, 0, line.length - 1, at);
        at += line.length;
      }
      await settle(this.logFolder, this.index);
      this.changed(at - offset);
      this.saveSoon();
    });
  }

  private async catchUp(): Promise<void> {
    const stale = await whyStale(this.logFolder, this.index);
    if (stale !== undefined) {
      this.noteRebuilt(stale);
      await this.rebuild();
      this.tell([]);
    } else {
      this.changed(await catchUp(this.logFolder, this.index));
    }
    await this.hideErased();
    this.torn = await tornLines(this.logFolder, this.index.parts.segments);
    this.saveSoon();
  }

  private async rebuild(): Promise<void> {
    const index = LogIndex.empty();
    const bytes = await catchUp(this.logFolder, index);
    index.isFollowed = true;
    this.index = index;
    this.order = undefined;
    this.unsavedBytes = bytes;
    await this.hideErased();
  }

  private async hideErased(): Promise<void> {
    const { episodes } = this.index.parts;
    for (const id of (await unfinishedErasure(this.logFolder))?.episodes ?? []) {
      const row = episodes.find(id);
      if (row === undefined || episodes.isDeleted(row)) continue;
      episodes.delete(row);
      this.order = undefined;
    }
  }

  /** Saved only while it fits the log: what somebody had erased must not come back through the index. */
  private async save(): Promise<void> {
    if ((await whyStale(this.logFolder, this.index)) !== undefined) return;
    await writeIndexFile(indexFileOf(this.folder), this.index.parts);
    this.unsavedBytes = 0;
  }

  /** Nobody waits for it: without an index file the log only opens more slowly. */
  private saveSoon(): void {
    if (this.unsavedBytes <= SAVE_AFTER_BYTES) return;
    this.unsavedBytes = 0;
    void this.exclusive(() => this.trySave());
  }

  private async trySave(): Promise<void> {
    try {
      await this.save();
    } catch (error) {
      // A folder that may only be read, or a full disk: the log is none the worse for it.
      this.said.push(`The index of the log could not be saved: ${messageOf(error)}.`);
    }
  }

  private changed(bytes: number): void {
    this.unsavedBytes += bytes;
    if (bytes > 0) this.order = undefined;
    const { touched, parts } = this.index;
    if (touched.size === 0) return;
    const ids = [...touched].map((row) => parts.episodes.ids[row]!);
    touched.clear();
    this.order = undefined;
    this.tell(ids);
  }

  private tell(episodes: readonly string[]): void {
    for (const listener of this.listeners) listener(episodes);
  }

  private noteRebuilt(reason: string): void {
    this.said.push(`The index of the log was rebuilt: ${reason}.`);
  }
}

function closed(): Fault {
  return new Fault('trajectory/closed', 'The trajectory log is closed; open it again.');
}

function indexFileOf(folder: string): string {
  return join(folder, 'index', 'trajectories.index');
}
