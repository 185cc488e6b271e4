import type { Consent } from '../consent';
import type { EventOf } from '../event';
import { fingerprintOf } from '../segment/known';
import { beginningOf, eventsIn, peek, type Peek } from '../segment/line';
import { lose, readAgain } from '../segment/losses';
import { sealOf, type Seal } from '../segment/seal';
import { follow } from '../segment/sequence';
import { markDoubtful } from './doubt';
import { glance, glanceTask } from './glance';
import { emptyParts, emptySegment, type IndexParts } from './parts';
import { readEvent, timeIn, type Unreadable } from './read';
import { Rows } from './rows';

/**
 * What the list shows and where each episode's lines stand, read from the log's lines one after the other. A line is
 * parsed only as far as its row needs it. Whoever drives the scan reads the episodes in `unsettled` whole and settles
 * them.
 */
export class LogIndex {
  /** Rows that changed since it was last cleared; kept only while somebody may want to be told of changes. */
  readonly touched = new Set<number>();
  isFollowed = false;
  /** The latest time of a consent or of an event of any episode, in milliseconds since 1970; 0 when there is none. */
  newest = 0;
  private readonly rows: Rows;
  /** Of so many rows is known whether they are doubtful. */
  private weighed: number;

  constructor(readonly parts: IndexParts) {
    this.rows = new Rows(parts);
    this.weighed = parts.episodes.length;
    const { lastAt } = parts.episodes.columns;
    for (let row = 0; row < parts.episodes.length; row += 1)
      this.newest = Math.max(this.newest, lastAt.get(row));
    for (const { at } of parts.consents) this.newest = Math.max(this.newest, Date.parse(at));
  }

  static empty(): LogIndex {
    return new LogIndex(emptyParts());
  }

  /** Rows of episodes of which single lines do not tell what holds. */
  get unsettled(): Set<number> {
    return this.rows.unsettled;
  }

  /** The row of the line that holds an episode's task; -1 when the log does not. */
  taskLine(row: number): number {
    return this.rows.taskLine(row);
  }

  /** Marks the episodes that lost lines make doubtful; to be called before the unsettled ones are read. */
  weighDoubt(): void {
    const { length } = this.parts.episodes;
    if (this.weighed < length) markDoubtful(this.parts, this.weighed, this.unsettled);
    this.weighed = length;
  }

  /** The number of a segment, which is new when it was not known. */
  segment(name: string): number {
    const { segments } = this.parts;
    const known = segments.findIndex((segment) => segment.name === name);
    return known === -1 ? segments.push(emptySegment(name)) - 1 : known;
  }

  /** Takes in one line of a segment; lines must come in order, each once. Lines already read are passed over. */
  addLine(segment: number, buffer: Buffer, start: number, end: number, offset: number): void {
    const state = this.parts.segments[segment]!;
    if (offset < state.scanned) return;
    state.scanned = offset + (end - start) + 1;
    state.lines += 1;
    if (offset === 0) state.fingerprint = fingerprintOf(buffer.subarray(start, end));
    if (start === end) return;
    const seal = sealOf(buffer, start, end);
    if (typeof seal === 'object' || (seal === 'none' && !state.sequence.isSealed)) {
      this.addEvent(segment, buffer, start, end, offset, seal);
      return;
    }
    for (const event of eventsIn(buffer, start, end)) {
      const sealOfEvent = sealOf(buffer, event.start, event.end);
      this.addEvent(segment, buffer, event.start, event.end, offset + event.start - start, sealOfEvent);
    }
  }

  /** A line over the limit is reported, once also when it is met again because it has no end yet. */
  addTooLong(segment: number, limit: number): void {
    const { name, lines } = this.parts.segments[segment]!;
    if (this.parts.problems.some((problem) => problem.file === name && problem.line === lines + 1)) return;
    const reason = `The line is over ${limit} bytes long and is passed over.`;
    this.parts.problems.push({ file: name, line: lines + 1, reason });
  }

  private addEvent(
    segment: number,
    buffer: Buffer,
    start: number,
    end: number,
    offset: number,
    seal: Seal,
  ): void {
    const { name, lines, sequence, losses } = this.parts.segments[segment]!;
    const front = peek(buffer, start, end);
    const { refused, missing, isAfterGap } = follow(sequence, seal, front?.kind);
    const reason = refused ?? missing;
    if (reason !== undefined) this.parts.problems.push({ file: name, line: lines, reason });
    if (refused !== undefined) {
      if (this.passOver(segment, buffer.subarray(start, end), offset)) sequence.told += 1;
      return;
    }
    const isRead =
      (front !== undefined && this.addFast(segment, front, buffer, start, end, offset)) ||
      this.addWhole(segment, buffer, start, end, offset);
    const isKnown = isRead || isAfterGap !== undefined;
    if (!isKnown || (losses.open === undefined && isAfterGap !== true)) return;
    readAgain(losses, isAfterGap, offset, front?.at ?? timeIn(buffer.subarray(start, end)) ?? this.newest);
    this.weighed = 0;
  }

  /**
   * Takes note of a line that cannot be read.
   * @param parsed what it says, where it is JSON as it was written
   * @returns whether is known what it was about
   */
  private passOver(segment: number, line: Buffer, offset: number, parsed?: Unreadable['told']): boolean {
    const { kind, episode } = parsed ?? beginningOf(line);
    const row = episode === undefined ? undefined : this.parts.episodes.find(episode);
    if (row !== undefined) {
      this.addUnreadable(row, segment, offset, line.length);
      return true;
    }
    if (parsed ? kind !== 'consent' : kind !== undefined && OF_NO_OTHER.has(kind)) return true;
    lose(this.parts.segments[segment]!.losses, offset, kind === 'consent' ? 'consent' : 'anything');
    this.weighed = 0;
    return kind === 'consent';
  }

  /** The line belongs to the ranges of the episode: who reads that whole learns that it is damaged. */
  private addUnreadable(row: number, segment: number, offset: number, length: number): void {
    const { episodes, ranges } = this.parts;
    const { lastRange } = episodes.columns;
    lastRange.set(row, ranges.add(lastRange.get(row), segment, offset, length));
    this.unsettled.add(row);
    if (this.isFollowed) this.touched.add(row);
  }

  /** What most lines need is told by their front and a few bytes more. False: parse the line whole. */
  private addFast(
    segment: number,
    front: Peek,
    buffer: Buffer,
    start: number,
    end: number,
    offset: number,
  ): boolean {
    const { episode, at } = front;
    if (episode === undefined) {
      // Without a check sum only parsing all of a task tells whether it can be read.
      if (front.kind !== 'task' || !this.parts.segments[segment]!.sequence.isSealed) return false;
      const task = glanceTask(front, buffer, end);
      if (task === undefined) return false;
      this.addTask(task, segment, offset, end - start);
      return true;
    }
    const event = glance(front, buffer, start, end);
    if (!event) return false;
    const row = this.episodeLine(segment, episode, at, offset, end - start, event.event);
    this.rows.apply(row, event, at, segment);
    return true;
  }

  /** Lines that say more than their front, and lines that others wrote. False when the line cannot be read. */
  private addWhole(segment: number, buffer: Buffer, start: number, end: number, offset: number): boolean {
    const { parts } = this;
    const state = parts.segments[segment]!;
    const line = buffer.subarray(start, end);
    const read = readEvent(line);
    if ('unknown' in read) {
      state.unknown += 1;
      return true;
    }
    if ('reason' in read) {
      parts.problems.push({ file: state.name, line: state.lines, reason: read.reason });
      this.passOver(segment, line, offset, read.told);
      return false;
    }
    const { event } = read;
    switch (event.event) {
      case 'segment':
        state.sequence.without = event.without ?? [];
        for (const noted of event.older ?? []) parts.older[noted.name] = noted;
        if (event.lost !== undefined) {
          state.losses.lostBy = Date.parse(event.lost);
          this.weighed = 0;
        }
        return true;
      case 'task':
        this.addTask(event.task.id, segment, offset, end - start);
        return true;
      case 'consent':
        parts.consents.push(consentOf(event));
        this.newest = Math.max(this.newest, Date.parse(event.at));
        return true;
      default: {
        const at = Date.parse(event.at);
        const row = this.episodeLine(segment, event.episode, at, offset, end - start, event.event);
        this.rows.apply(row, event, at, segment);
        return true;
      }
    }
  }

  private addTask(task: string, segment: number, offset: number, length: number): void {
    this.parts.tasks.add(this.parts.strings.number(task), segment, offset, length);
  }

  /** Puts the line down in the episode's byte ranges. */
  private episodeLine(
    segment: number,
    episode: string,
    at: number,
    offset: number,
    length: number,
    kind: string,
  ): number {
    const { episodes, ranges } = this.parts;
    const { lastAt, lastRange } = episodes.columns;
    // Lines before the start, or a second start: only the whole episode tells what holds.
    const isLate = kind === 'episode-started' && episodes.find(episode) !== undefined;
    const row = episodes.row(episode);
    const last = lastRange.get(row);
    if (isLate) this.unsettled.add(row);
    // Across segments the order is that of time, which the scan need not follow; equal times are settled by name.
    if (at < lastAt.get(row) || (at === lastAt.get(row) && ranges.segment(last) !== segment)) {
      this.unsettled.add(row);
    }
    if (at > lastAt.get(row)) lastAt.set(row, at);
    if (at > this.newest) this.newest = at;
    lastRange.set(row, ranges.add(last, segment, offset, length));
    if (this.isFollowed) this.touched.add(row);
    return row;
  }
}

/** Kinds that say nothing of a dialogue that began before, whosever they are. */
const OF_NO_OTHER: ReadonlySet<string> = new Set(['segment', 'task', 'episode-started']);

function consentOf({ pseudonym, purpose, level, at }: EventOf<'consent'>): Consent {
  return { pseudonym, purpose, at, ...(level && { level }) };
}
