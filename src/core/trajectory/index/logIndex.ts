import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Erased } from '../erased';
import type { EventOf, LogEvent } from '../event';
import {
  byNow,
  isFuture,
  beginningOf,
  eventsIn,
  peek,
  type LineFront,
  sealOf,
  type Seal,
  readEvent,
  timeIn,
  type Unreadable,
} from '../segment/line';
import { fingerprintOf, readOn, MAX_LINE_BYTES } from '../segment/reader';
import {
  lose,
  readAgain,
  segmentNames,
  unreadSegment,
  type ReadSegment,
  follow,
  joined,
} from '../segment/files';
import { Episodes, type Line } from './episodes';
import { outlineOf, taskIdOf } from './outline';
import { settle } from './reader';
import { Overtaken, type IndexStore } from './store';

/** Bytes read at once: this process is blocked while their lines are read. */
const PIECE_BYTES = 2 * 1024 * 1024;
/** Number of lines after which finished episodes are put away: as many as one in flight may pause for. */
const LINES = 500;

/**
 * Brings an index up to date with its log. Each line is read once, in the order of its file, and parsed only as far as
 * a list needs; the events are folded and the result is written. Single lines are not always enough (an episode
 * continues in another file, or lines are unreadable): such an episode is marked and, after all lines were read, read
 * whole.
 */
export class LogIndex {
  private isAnew = false;
  /** Read anew after each erasure, which clears the index. */
  private erased: Erased | undefined;
  private readonly episodes: Episodes;
  /** Tasks among the lines that were just read of a segment. */
  private readonly tasks = new Set<string>();

  constructor(
    private readonly logFolder: string,
    readonly store: IndexStore,
    /** Called after each piece that was read; may throw. */
    private readonly onPiece: () => void = () => undefined,
  ) {
    this.episodes = new Episodes(store);
  }

  /** Ids of episodes changed by this process or another one; the caller clears it. */
  get changed(): Set<string> {
    return this.episodes.changed;
  }

  /**
   * @param segment limits reading to this segment
   * @returns whether another process has rebuilt the index since
   */
  async catchUp(segment?: string): Promise<boolean> {
    for (;;) {
      this.noticeOthers();
      try {
        await this.readLog(segment === undefined ? await segmentNames(this.logFolder) : [segment]);
        const { isAnew } = this;
        this.isAnew = false;
        return isAnew;
      } catch (error) {
        if (error instanceof Overtaken) continue;
        this.forget();
        throw error;
      }
    }
  }

  clear(): void {
    this.store.clear();
    this.forget();
  }

  noticeOthers(): void {
    const { store } = this;
    if (!store.isOvertaken) return;
    const since = store.revision;
    this.forget();
    const ids = store.all<{ id: string }>('select id from episode where revision > ?', since);
    for (const { id } of ids) this.changed.add(id);
    if (Number(store.meta('cleared') ?? -1) > since) this.isAnew = true;
  }

  /** For what this process is about to write: another may have erased something since the last read. */
  async readErased(): Promise<void> {
    this.erased = await Erased.read(this.logFolder);
  }

  isErased(episode: string): boolean {
    return this.erased?.hasEpisode(episode) === true;
  }

  private forget(): void {
    this.erased = undefined;
    this.episodes.forget();
    this.store.reload();
  }

  private async readLog(names: readonly string[]): Promise<void> {
    const { store, episodes } = this;
    const since = store.revision;
    if (this.erased === undefined) await this.readErased();
    // A first reading that was cut off left episodes, but not the index by which they are found.
    if (store.next > 0) store.makeFindable();
    episodes.begin();
    const known = new Map(store.segments.map(({ name }, number) => [name, number]));
    for (const name of names) {
      const number = known.get(name) ?? store.segments.push(unreadSegment(name)) - 1;
      const segment = store.segments[number]!;
      const file = join(this.logFolder, name);
      this.tasks.clear();
      await readOn(file, segment, (line, offset) => this.addLine(number, line, offset), {
        onTooLong: () => this.addTooLong(segment),
        readBytes: PIECE_BYTES,
        onVisited: () => {
          this.write(number);
          this.onPiece();
        },
      });
      const { open } = segment.losses;
      // All of its lines were written by the file's modification time.
      if (open) open.at = byNow(Math.floor((await stat(file)).mtimeMs));
      this.readDamagedAgain();
      this.write(number);
    }
    episodes.end();
    store.makeFindable();
    await settle(this.logFolder, store, since, this.changed);
  }

  private write(segment: number): void {
    this.episodes.putAll();
    this.store.commit(segment);
  }

  private addLine(number: number, line: Buffer, offset: number): void {
    const segment = this.store.segments[number]!;
    segment.scanned = offset + line.length + 1;
    segment.lines += 1;
    if (segment.lines % LINES === 0) this.episodes.putAway();
    if (offset === 0) segment.fingerprint = fingerprintOf(line);
    if (line.length === 0) return;
    const seal = sealOf(line);
    if (typeof seal === 'number' || (seal === 'none' && !segment.sequence.isSealed))
      this.addEvent(line, { segment: number, start: offset, length: line.length }, seal);
    else
      for (const { event, offset: within } of eventsIn(line)) {
        const place = { segment: number, start: offset + within, length: event.length };
        this.addEvent(event, place, sealOf(event));
      }
  }

  /** Reports a line over the limit once, even if it is met again because it has no end yet. */
  private addTooLong({ name, lines }: ReadSegment): void {
    const reason = `The line is over ${MAX_LINE_BYTES} bytes long and is passed over.`;
    const { store } = this;
    if (store.problems.some(({ file, line }) => file === name && line === lines + 1)) return;
    store.addProblem({ file: name, line: lines + 1, reason });
  }

  private addEvent(line: Buffer, place: Line, seal: Seal): void {
    const segment = this.store.segments[place.segment]!;
    const { name, lines, sequence, losses } = segment;
    const front = peek(line);
    const { refused, missing, isAfterGap } = follow(sequence, seal, front?.kind);
    const reason = refused ?? missing;
    if (reason !== undefined) this.store.addProblem({ file: name, line: lines, reason });
    if (refused !== undefined) {
      if (this.passOver(line, place)) sequence.told += 1;
      return;
    }
    const isErased = this.erased?.isEmpty === false && this.erased.covers(front, line);
    if (isErased) segment.erased = (segment.erased ?? 0) + 1;
    const isSure = front !== undefined && typeof seal === 'number';
    const isRead = isErased || (isSure && this.addOutline(front, line, place)) || this.addWhole(line, place);
    const isKnown = isRead || isAfterGap !== undefined;
    if (!isKnown || (losses.open === undefined && isAfterGap !== true)) return;
    readAgain(losses, isAfterGap, place.start, front?.at ?? timeIn(line) ?? this.store.newest);
  }

  /**
   * @param parsed its content, if it is valid JSON
   * @returns whether it is known what the line was about
   */
  private passOver(line: Buffer, place: Line, parsed?: Unreadable['told']): boolean {
    const { kind, episode } = parsed ?? beginningOf(line);
    const held = episode === undefined ? undefined : this.episodes.find(episode);
    if (held) {
      this.episodes.addUnreadable(held, place);
      return true;
    }
    if (parsed ? kind !== 'consent' : kind !== undefined && OF_NO_OTHER.has(kind)) return true;
    const { losses } = this.store.segments[place.segment]!;
    lose(losses, place.start, kind === 'consent' ? 'consent' : 'anything');
    return kind === 'consent';
  }

  /** False if the line must be parsed whole. */
  private addOutline(front: LineFront, line: Buffer, place: Line): boolean {
    if (front.episode === undefined) {
      const task = front.kind === 'task' ? taskIdOf(front, line) : undefined;
      if (task !== undefined) this.addTask(task, place);
      return task !== undefined;
    }
    const event = outlineOf(front, line);
    if (event) this.addToEpisode(front.episode, front.at, event, place);
    return event !== undefined;
  }

  /** False if the line is unreadable. */
  private addWhole(line: Buffer, place: Line): boolean {
    const { store } = this;
    const segment = store.segments[place.segment]!;
    const read = readEvent(line);
    if ('unknown' in read) {
      segment.unknown += 1;
      return true;
    }
    if ('reason' in read) {
      store.addProblem({ file: segment.name, line: segment.lines, reason: read.reason });
      this.passOver(line, place, read.told);
      return false;
    }
    const { event } = read;
    switch (event.event) {
      case 'segment':
        segment.sequence.without = joined(event.without ?? [], []);
        store.addOlder(event.older ?? []);
        if (event.lost !== undefined) segment.losses.lostBy = byNow(Date.parse(event.lost));
        if (event.imported && place.start === 0) segment.origin = event.imported.origin;
        return true;
      case 'task':
        this.addTask(event.task.id, place);
        return true;
      case 'consent':
        this.addConsent(event, segment.origin);
        return true;
      case 'assignment':
        this.addAssignment(event);
        return true;
      default:
        this.addToEpisode(event.episode, Date.parse(event.at), event, place);
        return true;
    }
  }

  private addTask(task: string, { segment, start, length }: Line): void {
    const { store } = this;
    const number = store.number(task, 'task');
    store.write('insert or replace into task_line values (?, ?, ?, ?)', number, segment, start, length);
    this.tasks.add(task);
  }

  private addConsent(consent: EventOf<'consent'>, origin?: string): void {
    const { pseudonym, purpose, level, signals, at } = consent;
    this.store.addConsent({ pseudonym, purpose, at, level, signals, origin });
    this.notice(Date.parse(at));
  }

  private addAssignment({ pack, part, at }: EventOf<'assignment'>): void {
    this.store.addAssignment({ pack, at, part });
    this.notice(Date.parse(at));
  }

  private addToEpisode(episode: string, at: number, event: LogEvent, line: Line): void {
    const hasTask = event.event === 'episode-started' && this.hasTask(line.segment, event.task);
    this.episodes.add(episode, at, event, hasTask, line);
  }

  /** What follows is logged with later times than this one. */
  private notice(at: number): void {
    if (!isFuture(at)) this.store.newest = Math.max(this.store.newest, at);
  }

  /** A task that was missing may be there now. */
  private readDamagedAgain(): void {
    const { store, tasks } = this;
    if (tasks.size === 0 || store.get(SOME_DAMAGED) === undefined) return;
    for (const task of tasks) store.write(HAVE_TASK, store.number(task));
  }

  private hasTask(segment: number, task: string): boolean {
    if (this.tasks.has(task)) return true;
    const sql =
      'select 1 from task_line where task = (select number from name where text = ?) and segment = ?';
    return this.store.get(sql, task, segment) !== undefined;
  }
}

const SOME_DAMAGED = 'select 1 from episode where damaged = 1 and unsettled = 0 limit 1';
const HAVE_TASK = 'update episode set unsettled = 1 where damaged = 1 and unsettled = 0 and task = ?';

/** Kinds of events that cannot affect a dialogue that began earlier; losing such a line puts none in doubt. */
const OF_NO_OTHER: ReadonlySet<string> = new Set(['segment', 'task', 'episode-started', 'assignment']);
