import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import type { Task } from '../task/task';
import { Fault } from '../fault';
import { claimIn, type Claim } from './claim';
import { Consents, type Consent } from './consent';
import { erase, refuseWhileErasing, type Erasure } from './erase';
import { LOG_VERSION, type EventKind, type EventOf, type LogEvent, type NewEvent } from './event';
import { consentsLostBy } from './index/doubt';
import { KeptIndex, type ChangeListener } from './index/keptIndex';
import type { Problem } from './index/parts';
import { collectedRollouts, type CollectedRollout } from './index/collected';
import { notYetNoted } from './index/older';
import { outlines, type Outline } from './index/outline';
import * as query from './index/query';
import { EpisodeReader } from './index/reader';
import { searchDialogues, type FoundDialogue, type SearchOptions } from './search';
import { SegmentWriter } from './segment/writer';
import type { Trajectory, TrajectorySummary } from './trajectory';
import { KeptUse, type UseByModel } from './use';

export type { ChangeListener } from './index/keptIndex';
export type { Problem } from './index/parts';
export type { CollectedRollout } from './index/collected';
export type { Outline } from './index/outline';
export { outcomes } from './index/query';
export type {
  ListOptions,
  Outcome,
  SharedValue,
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

const SEGMENT_BYTES = 64 * 1024 * 1024;

/**
 * The trajectory log of a data folder: append-only segments under `log/`, which are the only truth, and an index of
 * them in memory and under `index/`. Each process that appends writes segments of its own, so that several windows and
 * a command line can use one folder at once; `refresh` reads what the others appended.
 */
export class TrajectoryLog {
  private readonly writer: SegmentWriter;
  private readonly use: KeptUse;
  private readonly tasks = new Map<string, Task>();
  private readonly claims = new Set<Claim>();
  /** Claims and releases happen one after the other: what is being given back here can be claimed here. */
  private claiming: Promise<unknown> = Promise.resolve();
  /** Of the newest event that is known, in milliseconds since 1970. */
  private lastTime = 0;
  private isClosed = false;

  private constructor(
    private readonly folder: string,
    private readonly index: KeptIndex,
    options: LogOptions,
  ) {
    this.writer = new SegmentWriter({
      folder: this.logFolder,
      segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
      onWritten: (segment, lines, offset) => index.takeIn(segment, lines, offset),
      beforeSegment: async () => {
        await refuseWhileErasing(this.logFolder);
        return notYetNoted(this.logFolder, this.index.now);
      },
    });
    this.use = new KeptUse(folder, (episode) => this.agentOf(episode));
    this.setClock();
  }

  /**
   * Opens the log of a data folder (`.tandem`), which need not exist: it is made by the first append. Reads the index
   * file and what the log holds beyond it, or all of the log when the index is missing or does not fit; `notes` then
   * says why.
   */
  static async open(folder: string, options: LogOptions = {}): Promise<TrajectoryLog> {
    return new TrajectoryLog(folder, await KeptIndex.open(folder, logFolderOf(folder)), options);
  }

  /** Lines that cannot be read: they are passed over, and everything else is there. */
  get problems(): readonly Problem[] {
    return this.index.problems;
  }

  /** What the person who opened the log may want to know, in sentences. */
  get notes(): readonly string[] {
    return this.index.notes;
  }

  /** Consent that developers gave, from the oldest. */
  get consents(): readonly Consent[] {
    return this.index.now.parts.consents;
  }

  /** What those consents allow now. */
  get allowed(): Consents {
    return new Consents(this.consents, consentsLostBy(this.index.now.parts));
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

  /**
   * The whole trajectory; undefined when there is none of that id, or it was deleted.
   * @throws {Fault} `trajectory/task-missing` when the log lost its task
   */
  async trajectory(id: string): Promise<Trajectory | undefined> {
    const onLost = (lost: Fault): never => {
      throw lost;
    };
    for await (const trajectory of this.trajectories([id], onLost)) return trajectory;
    return undefined;
  }

  /**
   * The trajectories of these ids in their order; ids that the log does not have, or no longer, are passed over, and so
   * are those whose task it lost, after `onLost` was told.
   */
  async *trajectories(
    ids: Iterable<string>,
    onLost?: (lost: Fault, id: string) => void,
  ): AsyncGenerator<Trajectory> {
    const index = await this.index.fitting();
    const { episodes } = index.parts;
    const reader = new EpisodeReader(this.logFolder, index);
    try {
      for (const id of ids) {
        const row = episodes.find(id);
        if (row === undefined || !episodes.isVisible(row)) continue;
        const trajectory = await reader.trajectory(row).catch((error: unknown) => {
          if (!(error instanceof Fault && error.code === 'trajectory/task-missing')) throw error;
          onLost?.(error, id);
        });
        if (trajectory) yield trajectory;
      }
    } finally {
      await reader.close();
    }
  }

  /** The trajectories in which somebody says all words of a query, as `searchDialogues` finds them. */
  async *search(query: string, options?: SearchOptions): AsyncGenerator<FoundDialogue> {
    await this.index.fitting();
    yield* searchDialogues(
      {
        logFolder: this.logFolder,
        summary: (id) => this.summary(id),
        trajectories: (ids, onLost) => this.trajectories(ids, onLost),
      },
      query,
      options,
    );
  }

  /** What the index knows of a trajectory; undefined when there is none of that id, or it was deleted. */
  summary(id: string): TrajectorySummary | undefined {
    const { episodes } = this.index.now.parts;
    const row = episodes.find(id);
    return row === undefined || !episodes.isVisible(row) ? undefined : episodes.summary(row);
  }

  isDeleted(id: string): boolean {
    const row = this.index.now.parts.episodes.find(id);
    return row !== undefined && this.index.now.parts.episodes.isDeleted(row);
  }

  /** One page of the trajectories, with how many there are in all pages. */
  list(options: query.ListOptions): query.TrajectoryList {
    return query.page(this.index.now.parts.episodes, this.index.timeOrder, options);
  }

  /** How many there are, how many of them are graded, succeeded and leaked. */
  count(filter: query.TrajectoryFilter = {}): query.TrajectoryCounts {
    return query.count(this.index.now.parts.episodes, this.index.timeOrder, filter);
  }

  /** The tasks, packs, agents or collaborators of the trajectories that a filter leaves, the most frequent first. */
  valuesOf(
    column: 'task' | 'pack' | 'agent' | 'collaborator',
    filter: query.TrajectoryFilter = {},
  ): query.SharedValue[] {
    return query.valuesOf(this.index.now.parts.episodes, this.index.timeOrder, column, filter);
  }

  /** The id of one trajectory of each task, by the id of the task. */
  oneOfEachTask(): Map<string, string> {
    return query.oneOfEachTask(this.index.now.parts.episodes, this.index.timeOrder);
  }

  /** What statistics need of every trajectory that a filter leaves, from the oldest to the newest. */
  outlines(filter: query.TrajectoryFilter = {}): Outline[] {
    return outlines(this.index.now.parts.episodes, this.index.timeOrder, filter);
  }

  /** The trajectories that are marked as deleted, in the order in which the log first knew them. */
  get deleted(): TrajectorySummary[] {
    const { episodes } = this.index.now.parts;
    const deleted = [];
    for (let row = 0; row < episodes.length; row += 1) {
      if (episodes.isStarted(row) && episodes.isDeleted(row)) deleted.push(episodes.summary(row));
    }
    return deleted;
  }

  /**
   * What each model has written, deleted and abandoned episodes included. The first time all of the log is read.
   * @throws {Fault} `trajectory/unreadable`
   */
  modelUse(): Promise<UseByModel> {
    return this.use.read();
  }

  /** What a collection has of its rollouts, by `<task id>#<rollout>`. */
  collected(collection: string): Map<string, CollectedRollout> {
    return collectedRollouts(this.index.now.parts.episodes, this.index.timeOrder, collection);
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
    const held = await this.afterClaims(() => claimIn(join(this.folder, 'claims'), name, what));
    const claim: Claim = {
      release: () => {
        this.claims.delete(claim);
        return this.afterClaims(() => held.release());
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
  async refresh(): Promise<void> {
    await this.index.refresh();
    this.setClock();
  }

  /** Calls the listener after each change, one's own and those that `refresh` finds. */
  onDidChange(listener: ChangeListener): { dispose(): void } {
    return this.index.onDidChange(listener);
  }

  /**
   * Hides trajectories from every list. Their lines stay in the log, which only grows, and `undelete` shows them again.
   * @throws {Fault} `trajectory/unknown` when one is not there; then none is deleted
   */
  async delete(ids: readonly string[]): Promise<void> {
    const unknown = ids.find((id) => !this.summary(id));
    if (unknown !== undefined) throw this.unknown(unknown);
    await this.appendAll(
      ids.map((episode) => ({ event: 'deleted', episode })),
      { durable: true },
    );
  }

  /**
   * Shows deleted trajectories again, as they were.
   * @throws {Fault} `trajectory/unknown` when one is not among the deleted; then none is shown again
   */
  async undelete(ids: readonly string[]): Promise<void> {
    const unknown = ids.find((id) => !this.isDeleted(id));
    if (unknown !== undefined) throw this.unknown(unknown);
    await this.appendAll(
      ids.map((episode) => ({ event: 'undeleted', episode })),
      { durable: true },
    );
  }

  /**
   * Takes everything of a developer out of the log: each episode in which that pseudonym sat in the collaborator's
   * seat, with all its events, and the consent and ratings given under it. The lines of other episodes stay as they
   * are, byte for byte. May be run again after it was interrupted, at any point.
   * @throws {Fault} `trajectory/log-in-use` when another process writes to the log
   */
  async eraseAnnotator(pseudonym: string): Promise<Erasure> {
    return this.writer.paused(() =>
      this.index.rewritten((dropIndex) => erase(this.logFolder, pseudonym, dropIndex)),
    );
  }

  /** Writes what is pending, closes the segment, gives claims back and saves the index. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.writer.close();
    for (const claim of this.claims) await claim.release();
    await this.index.close();
  }

  private get logFolder(): string {
    return logFolderOf(this.folder);
  }

  private unknown(id: string): Fault {
    return new Fault('trajectory/unknown', `There is no trajectory ${id} in the log of ${this.folder}.`);
  }

  private taskOf(event: { readonly episode: string; readonly task: string }): Task {
    const task = this.tasks.get(event.task);
    if (task) return task;
    const message = `Episode ${event.episode} plays task ${event.task}, which was not recorded before.`;
    throw new Fault('trajectory/task-not-recorded', message);
  }

  /** Who plays the agent of an episode, or went on with it last; deleted ones included. */
  private agentOf(episode: string): string | undefined {
    const { episodes } = this.index.now.parts;
    const row = episodes.find(episode);
    return row !== undefined && episodes.isStarted(row) ? episodes.agent(row) : undefined;
  }

  private afterClaims<T>(work: () => Promise<T>): Promise<T> {
    const result = this.claiming.then(work);
    this.claiming = result.catch(() => undefined); // whoever asked for the work learns of its failure
    return result;
  }

  /** Never runs backwards, so that the events of one process are in the order of their times. */
  private now(): string {
    this.lastTime = Math.max(this.lastTime, Date.now());
    return new Date(this.lastTime).toISOString();
  }

  /**
   * What is appended from now on is later than all that is known of the log, wherever this machine's clock stands: an
   * episode that goes on in another segment is put together by time.
   */
  private setClock(): void {
    this.lastTime = Math.max(this.lastTime, this.index.now.newest + 1);
  }
}

function closed(): Fault {
  return new Fault('trajectory/closed', 'The trajectory log is closed; open it again.');
}

function logFolderOf(folder: string): string {
  return join(folder, 'log');
}
