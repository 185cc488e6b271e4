import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { messageOf } from '../../fault';
import { unfinishedErasure } from '../erase';
import { catchUp, settle, tornLines, whyStale } from './follow';
import { readIndexFile, writeIndexFile } from './indexFile';
import { LogIndex } from './logIndex';
import { changedOlder } from './older';
import type { Problem } from './parts';
import { inTimeOrder } from './query';

/** Called with the ids of the episodes that changed; with none when the whole log was read anew. Must not throw. */
export type ChangeListener = (episodes: readonly string[]) => void;

/** An index that is behind by more than this is worth writing at once instead of when the log is closed. */
const SAVE_AFTER_BYTES = 32 * 1024 * 1024;

/**
 * The index of a log, kept in step with it: read from its file, brought up to date, rebuilt when it does not fit the
 * log, and saved. Tells listeners which episodes changed.
 */
export class KeptIndex {
  private readonly listeners = new Set<ChangeListener>();
  private order: Uint32Array | undefined;
  private torn: Problem[] = [];
  private readonly said: string[] = [];
  /** What changes the index happens one after the other. */
  private queue: Promise<unknown> = Promise.resolve();
  private unsavedBytes = 0;

  private constructor(
    private readonly logFolder: string,
    private readonly file: string,
    private kept: LogIndex,
  ) {}

  /** Reads the index file and what the log holds beyond it, or all of the log; `notes` then says why. */
  static async open(folder: string, logFolder: string): Promise<KeptIndex> {
    const file = join(folder, 'index', 'trajectories.index');
    const saved = await readIndexFile(file);
    const usable = saved && !('reason' in saved) ? new LogIndex(saved) : undefined;
    const index = new KeptIndex(logFolder, file, usable ?? LogIndex.empty());
    if (saved && 'reason' in saved) index.noteRebuilt(saved.reason);
    await index.exclusive(() => index.catchUp(true));
    const erasing = await unfinishedErasure(logFolder);
    if (erasing) {
      index.said.push(
        `Erasing the data of ${erasing.pseudonym} was interrupted. Run it again: until then some of it is still in the log, and is hidden.`,
      );
    }
    index.kept.isFollowed = true;
    return index;
  }

  /** Another one after a rebuild. */
  get now(): LogIndex {
    return this.kept;
  }

  /** The visible episodes by the time of their start. */
  get timeOrder(): Uint32Array {
    return (this.order ??= inTimeOrder(this.kept.parts.episodes));
  }

  get problems(): readonly Problem[] {
    return [...this.kept.parts.problems, ...changedOlder(this.kept.parts), ...this.torn];
  }

  get notes(): readonly string[] {
    const unknown = this.kept.parts.segments.reduce((sum, segment) => sum + segment.unknown, 0);
    if (unknown === 0) return this.said;
    const lines = unknown === 1 ? '1 line was' : `${unknown} lines were`;
    return [...this.said, `${lines} written by a newer Tandem; they are kept and passed over.`];
  }

  onDidChange(listener: ChangeListener): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** The index, read anew if another process has rewritten the log: byte ranges that were known are wrong then. */
  async fitting(): Promise<LogIndex> {
    if ((await whyStale(this.logFolder, this.kept)) !== undefined) await this.refresh();
    return this.kept;
  }

  /** Reads what other processes appended since. */
  refresh(): Promise<void> {
    return this.exclusive(() => this.catchUp());
  }

  /** Takes in lines of our own, just written. */
  takeIn(segment: string, lines: readonly Buffer[], offset: number): Promise<void> {
    return this.exclusive(async () => {
      const number = this.kept.segment(segment);
      const state = this.kept.parts.segments[number]!;
      state.changedAt = undefined;
      let at = offset;
      for (const line of lines) {
        if (at >= state.scanned) state.sum = crc32(line, state.sum);
        this.kept.addLine(number, line, 0, line.length - 1, at);
        at += line.length;
      }
      await settle(this.logFolder, this.kept);
      this.changed(at - offset);
      this.saveSoon();
    });
  }

  /** Runs what rewrites the log, and reads all of it afterwards. `drop` removes the index file and what it left. */
  async rewritten<T>(rewrite: (drop: () => Promise<void>) => Promise<T>): Promise<T> {
    const result = await this.exclusive(async () => {
      const done = await rewrite(() => rm(dirname(this.file), { recursive: true, force: true }));
      await this.rebuild();
      await this.save();
      return done;
    });
    this.tell([]);
    return result;
  }

  /** Saves what is not saved yet. */
  close(): Promise<void> {
    return this.exclusive(() => (this.unsavedBytes > 0 ? this.trySave() : Promise.resolve()));
  }

  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => undefined); // whoever asked for the work learns of its failure
    return result;
  }

  /** @param thoroughly looks whether a log was edited that the index was not there to see */
  private async catchUp(thoroughly = false): Promise<void> {
    const before = this.agreement;
    const stale = await whyStale(this.logFolder, this.kept, thoroughly);
    // What was found to agree need not be read again by whoever opens the log next.
    if (this.agreement !== before) this.unsavedBytes += 1;
    if (stale !== undefined) {
      this.noteRebuilt(stale);
      await this.rebuild();
      this.tell([]);
    } else {
      this.changed(await catchUp(this.logFolder, this.kept));
    }
    await this.hideErased();
    this.torn = await tornLines(this.logFolder, this.kept.parts.segments);
    this.saveSoon();
  }

  private async rebuild(): Promise<void> {
    const index = LogIndex.empty();
    const bytes = await catchUp(this.logFolder, index);
    index.isFollowed = true;
    this.kept = index;
    this.order = undefined;
    this.unsavedBytes = bytes;
    await this.hideErased();
  }

  private async hideErased(): Promise<void> {
    const { episodes } = this.kept.parts;
    for (const id of (await unfinishedErasure(this.logFolder))?.episodes ?? []) {
      const row = episodes.find(id);
      if (row === undefined || episodes.isDeleted(row)) continue;
      episodes.delete(row);
      this.order = undefined;
    }
  }

  /** Another number whenever more is known of when the segments last were as they were read. */
  private get agreement(): number {
    return this.kept.parts.segments.reduce((sum, { changedAt = 0 }) => sum + changedAt, 0);
  }

  /** Saved only while it fits the log: what somebody had erased must not come back through the index. */
  private async save(): Promise<void> {
    if ((await whyStale(this.logFolder, this.kept, true)) !== undefined) return;
    await writeIndexFile(this.file, this.kept.parts);
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
    const { touched, parts } = this.kept;
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
