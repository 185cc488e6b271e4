import { join } from 'node:path';
import { Fault } from '../fault';
import { assignedIn, type Part } from './assignments';
import { claimIn, type Claim, type Shard } from './claim';
import { Consents, type Consent } from './consent';
import { erase, refuseWhileErasing, type Erasure } from './erase';
import { consentLevels, type ConsentLevel, type EventOf } from './event';
import type { TrajectoryFilter } from './index/filter';
import { KeptIndex, type ChangeListener } from './index/keptIndex';
import * as query from './index/query';
import { EpisodeReader } from './index/reader';
import { summaryOf, type Row } from './index/rows';
import { mergeSegments, sharedPeople, type MergedSegments, type MergeOptions } from './merge';
import { searchDialogues, type FoundDialogue, type SearchOptions } from './search';
import { consentsLostBy, notYetNoted, type LineProblem } from './segment/files';
import { closed, LogWriter } from './segment/writer';
import type { Trajectory, TrajectorySummary } from './trajectory';
import { KeptUse, type UseByModel } from './modelUsage';

export type { ChangeListener } from './index/keptIndex';
export type { LineProblem } from './segment/files';
export { outcomes, type Outcome, type TrajectoryFilter } from './index/filter';
export type {
  CollectedRollout,
  ListOptions,
  Outline,
  SharedValue,
  TrajectoryCounts,
  TrajectoryList,
} from './index/query';
export type { Claim, Shard } from './claim';
export type { Erasure } from './erase';

export interface LogOptions {
  /** Size in bytes at which a segment is closed and a new one begun. */
  readonly segmentBytes?: number;
  /** Ends the opening, which may read a large log. */
  readonly signal?: AbortSignal | undefined;
}

export interface Merged extends Omit<MergedSegments, 'agreed'> {
  /** Trajectories that are shown since, and were not before. */
  readonly imported: number;
  /** Trajectories that were shown, and are deleted since because they were in the other log. */
  readonly deleted: number;
  /** People of whom less may leave this log than they allowed here, or there. */
  readonly lowered: readonly LoweredConsent[];
}

export interface LoweredConsent {
  readonly pseudonym: string;
  readonly from: ConsentLevel;
  readonly to: ConsentLevel;
}

const SEGMENT_BYTES = 64 * 1024 * 1024;

/**
 * The trajectory log of a data folder: append-only segments under `log/`, which are the only truth, and an index of
 * them in memory and under `index/`. Each process writes its own segments, so that several windows and a command line
 * can use one folder at once; `refresh` reads what the others appended. Once it is closed, everything that reads or
 * writes throws `trajectory/closed`.
 */
export class TrajectoryLog extends LogWriter {
  private readonly use: KeptUse;
  private readonly claims = new Set<Claim>();
  /** Claims and releases run one after the other, so that a claim being released here can be claimed again here. */
  private claiming: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly folder: string,
    private readonly index: KeptIndex,
    options: LogOptions,
  ) {
    super(logFolderOf(folder), options.segmentBytes ?? SEGMENT_BYTES);
    this.use = new KeptUse(folder, (episode) => this.agentOf(episode));
    this.continueAfter(index.store.newest);
  }

  /**
   * Opens the log of a data folder (`.tandem`), which need not exist: the first append creates it. Reads the index file
   * and the log's newer lines, or the whole log if the index is missing or does not match; `notes` then says why.
   */
  static async open(folder: string, options: LogOptions = {}): Promise<TrajectoryLog> {
    return new TrajectoryLog(
      folder,
      await KeptIndex.open(folder, logFolderOf(folder), options.signal),
      options,
    );
  }

  /** They are skipped, and everything else is available. */
  get problems(): readonly LineProblem[] {
    return this.index.problems;
  }

  get notes(): readonly string[] {
    return this.index.notes;
  }

  get consents(): readonly Consent[] {
    return this.index.store.consents;
  }

  /** By the pack's file name. */
  get assigned(): Map<string, readonly Part[]> {
    return assignedIn(this.index.store.assignments);
  }

  get allowed(): Consents {
    return new Consents(this.consents, consentsLostBy(this.index.store));
  }

  /**
   * Undefined if it does not exist or was deleted.
   * @throws {Fault} `trajectory/task-missing` if the log lost its task
   */
  async trajectory(id: string): Promise<Trajectory | undefined> {
    const onLost = (lost: Fault): never => {
      throw lost;
    };
    for await (const trajectory of this.trajectories([id], onLost)) return trajectory;
    return undefined;
  }

  /**
   * In the order of the ids. Unknown and deleted ids are skipped; so are trajectories with a task that the log lost,
   * after a call of `onLost`.
   */
  async *trajectories(
    ids: Iterable<string>,
    onLost?: (lost: Fault, id: string) => void,
  ): AsyncGenerator<Trajectory> {
    const reader = new EpisodeReader(this.logFolder, await this.index.fitting());
    try {
      for (const id of ids) {
        const row = this.visible(id);
        if (!row) continue;
        const read = await reader.episode(Number(row.number), id).catch((error: unknown) => {
          if (!(error instanceof Fault && error.code === 'trajectory/task-missing')) throw error;
          onLost?.(error, id);
        });
        if (read?.deleted === false) yield read.trajectory;
      }
    } finally {
      await reader.close();
    }
  }

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

  /** Undefined if it does not exist or was deleted. */
  summary(id: string): TrajectorySummary | undefined {
    const row = this.visible(id);
    return row && this.index.ask((store) => summaryOf(row, store));
  }

  override isErased(id: string): boolean {
    return this.index.isErased(id);
  }

  isDeleted(id: string): boolean {
    return this.row(id)?.deleted === 1;
  }

  list(options: query.ListOptions): query.TrajectoryList {
    return this.index.ask((store) => query.page(store, options));
  }

  count(filter: TrajectoryFilter = {}): query.TrajectoryCounts {
    return this.index.ask((store) => query.count(store, filter));
  }

  countBy(by: query.CountedBy, filter: TrajectoryFilter = {}): query.GroupedCounts {
    return this.index.ask((store) => query.countBy(store, by, filter));
  }

  /** The most frequent first. */
  valuesOf(column: query.SharedColumn, filter: TrajectoryFilter = {}): query.SharedValue[] {
    return this.index.ask((store) => query.valuesOf(store, column, filter));
  }

  /** Perhaps also names that only deleted trajectories have; looks at no trajectory. */
  namesOf(column: 'task' | 'agent' | 'collaborator'): string[] {
    return this.index.ask((store) => query.namesOf(store, column));
  }

  /** Keyed by the task's id. */
  oneOfEachTask(): Map<string, string> {
    return this.index.ask(query.oneOfEachTask);
  }

  /** Ids of the dialogues that continue this one otherwise, oldest first. */
  forksOf(id: string): string[] {
    return this.index.ask((store) => query.forksOf(store, id));
  }

  /** The oldest first. */
  outlines(filter: TrajectoryFilter = {}): query.Outline[] {
    return this.index.ask((store) => query.outlines(store, filter));
  }

  get deleted(): TrajectorySummary[] {
    return this.index.ask(query.deleted);
  }

  /**
   * What each model has written, deleted and abandoned episodes included. The first call reads the whole log.
   * @throws {Fault} `trajectory/unreadable`
   */
  modelUse(): Promise<UseByModel> {
    return this.use.read();
  }

  /** Keyed by `<task id>#<rollout>`, without the dialogues that a person has taken over. */
  collected(collection: string): Map<string, query.CollectedRollout> {
    return this.index.ask((store) => query.collectedRollouts(store, collection));
  }

  /**
   * Claims the exclusive right to play something, until `release`, `close` or the end of this process. It resolves
   * after it has read what the previous holder logged.
   * @param name name of what is claimed, e.g. `collection-<name>` or `episode-<id>`
   * @param what subject of the error message for a second claimant, e.g. "This dialogue"
   * @param shard part of what is claimed; by default all
   * @throws {Fault} `trajectory/claimed` if it is claimed already, also by this process; `trajectory/not-written`
   */
  async claim(name: string, what: string, shard?: Shard): Promise<Claim> {
    if (this.isClosed) throw closed();
    const held = await this.afterClaims(() => claimIn(join(this.folder, 'claims'), name, what, shard));
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

  /** Reads the lines that other processes have appended since. */
  async refresh(): Promise<void> {
    await this.index.refresh();
    this.continueAfter(this.index.store.newest);
  }

  /**
   * See `mergeSegments`.
   * @throws {Fault} `trajectory/no-log`, `trajectory/unreadable`, `trajectory/unknown`, `trajectory/log-in-use`
   */
  async merge(folder: string, options: MergeOptions = {}): Promise<Merged> {
    await this.refresh();
    const before = new Set(this.ids());
    const consents = this.allowed;
    let merged: MergedSegments;
    try {
      merged = await mergeSegments(logFolderOf(folder), this.logFolder, options);
    } finally {
      await this.refresh();
    }
    const now = this.ids();
    const stayed = now.filter((id) => before.has(id)).length;
    const { agreed, ...counts } = merged;
    return {
      ...counts,
      ...{ imported: now.length - stayed, deleted: before.size - stayed },
      lowered: lowered(consents, agreed, this.allowed),
    };
  }

  async sharedPeople(folder: string, options: Omit<MergeOptions, 'samePeople'> = {}): Promise<string[]> {
    return sharedPeople(logFolderOf(folder), this.logFolder, options);
  }

  /** Calls the listener after each change, by this process or found by `refresh`. */
  onDidChange(listener: ChangeListener): { dispose(): void } {
    return this.index.onDidChange(listener);
  }

  /**
   * Hides trajectories from every list. Their lines stay in the append-only log, and `undelete` shows them again.
   * @throws {Fault} `trajectory/unknown` if one does not exist; then none is deleted
   */
  async delete(ids: readonly string[]): Promise<void> {
    await this.mark(ids, 'deleted', (id) => this.summary(id) !== undefined);
  }

  /** @throws {Fault} `trajectory/unknown` if one is not among the deleted; then none is restored */
  async undelete(ids: readonly string[]): Promise<void> {
    await this.mark(ids, 'undeleted', (id) => this.isDeleted(id));
  }

  /**
   * Erases each episode in which that pseudonym played the collaborator, and that pseudonym's consents, opinions and
   * parts of packs. The lines of other episodes stay byte for byte. After an interruption at any point it can be called
   * again.
   * @throws {Fault} `trajectory/log-in-use` if another process writes to the log
   */
  async eraseDeveloper(pseudonym: string): Promise<Erasure> {
    return this.paused(() =>
      this.index.rewritten((dropIndex) => erase(this.logFolder, pseudonym, dropIndex)),
    );
  }

  /** Writes pending lines, closes the segment, releases all claims and saves the index. */
  override async close(): Promise<void> {
    if (this.isClosed) return;
    await super.close();
    for (const claim of this.claims) await claim.release();
    await this.index.close();
  }

  protected override onWritten(segment: string): Promise<void> {
    return this.index.takeIn(segment);
  }

  protected override async beforeSegment(): Promise<EventOf<'segment'>['older']> {
    await refuseWhileErasing(this.logFolder);
    await this.index.readErased();
    return notYetNoted(this.logFolder, this.index.store, this.index.store.newest);
  }

  private async mark(
    ids: readonly string[],
    event: 'deleted' | 'undeleted',
    isKnown: (id: string) => boolean,
  ): Promise<void> {
    const unknown = ids.find((id) => !isKnown(id));
    if (unknown !== undefined)
      throw new Fault('trajectory/unknown', `There is no dialogue ${unknown} in the log of ${this.folder}.`);
    await this.appendAll(
      ids.map((episode) => ({ event, episode })),
      { durable: true },
    );
  }

  private ids(): string[] {
    return this.index.ask(query.ids);
  }

  private agentOf(episode: string): string | undefined {
    const row = this.row(episode);
    if (row === undefined || row.agent === null) return undefined;
    return this.index.ask((store) => store.text(Number(row.agent)));
  }

  private row(id: string): Row | undefined {
    return this.index.ask((store) => store.get('select * from episode where id = ?', id));
  }

  private visible(id: string): Row | undefined {
    const row = this.row(id);
    return row && row.started_at !== null && row.deleted === 0 ? row : undefined;
  }

  private afterClaims<T>(work: () => Promise<T>): Promise<T> {
    const result = this.claiming.then(work);
    this.claiming = result.catch(() => undefined); // the caller of the work gets its error
    return result;
  }
}

function lowered(
  before: Consents,
  agreed: ReadonlyMap<string, ConsentLevel>,
  after: Consents,
): LoweredConsent[] {
  const isHigher = (one: ConsentLevel, other: ConsentLevel): boolean =>
    consentLevels.indexOf(one) > consentLevels.indexOf(other);
  return [...agreed].flatMap(([pseudonym, there]) => {
    const to = after.level(pseudonym) ?? 'local';
    const here = before.level(pseudonym) ?? there;
    const from = isHigher(here, there) ? here : there;
    return isHigher(from, to) ? [{ pseudonym, from, to }] : [];
  });
}

function logFolderOf(folder: string): string {
  return join(folder, 'log');
}
