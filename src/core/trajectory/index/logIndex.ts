import { crc32 } from 'node:zlib';
import type { Consent } from '../consent';
import type { LogEvent } from '../event';
import { eventsIn, peek } from '../segment/line';
import { sealOf, type Seal } from '../segment/seal';
import { follow, newSequence, type Sequence } from '../segment/sequence';
import { Strings } from './columns';
import { readEvent, readStart } from './read';
import { Episodes, type StartFields } from './episodes';
import { Ranges, TaskLines } from './places';

/** A line of the log that cannot be read, or before which lines are missing. */
export interface Problem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** One sentence. */
  readonly reason: string;
}

/** How far the index has read a segment. */
export interface IndexedSegment {
  readonly name: string;
  /** Bytes read, up to the end of the last complete line. */
  scanned: number;
  lines: number;
  /** Of the first line, which is new whenever the segment is rewritten; undefined while there is none. */
  fingerprint: number | undefined;
  /** Lines of another version or of a kind that is not known here; they are kept and passed over. */
  unknown: number;
  /** Bytes of a last line that has no end. */
  tail: number;
  readonly sequence: Sequence;
  /** The CRC-32 of the bytes read. */
  sum: number;
  /**
   * When the file had last changed while it was known to hold what was read, in milliseconds since 1970 as the system
   * says; undefined while that is not known.
   */
  changedAt?: number | undefined;
}

/** How much of a segment's first line the fingerprint covers. */
export const FINGERPRINT_BYTES = 256;

export interface IndexParts {
  readonly strings: Strings;
  readonly episodes: Episodes;
  readonly ranges: Ranges;
  readonly tasks: TaskLines;
  readonly segments: IndexedSegment[];
  readonly consents: Consent[];
  readonly problems: Problem[];
}

/**
 * What the list shows and where each episode's lines stand, read from the log's lines one after the other. A line is
 * parsed only as far as its row needs it. Where an event does not simply add to what is known (a turn taken back, an
 * answer reopened, lines out of time across segments), the episode is put down in `unsettled`, and whoever drives the
 * scan reads it whole and calls `settle`.
 */
export class LogIndex {
  readonly unsettled = new Set<number>();
  /** Rows that changed since it was last cleared; kept only while somebody may want to be told of changes. */
  readonly touched = new Set<number>();
  isFollowed = false;
  /** The latest time of an event of any episode, in milliseconds since 1970; 0 when there is none. */
  newest = 0;

  constructor(readonly parts: IndexParts) {
    const { lastAt } = parts.episodes.columns;
    for (let row = 0; row < parts.episodes.length; row += 1)
      this.newest = Math.max(this.newest, lastAt.get(row));
  }

  static empty(): LogIndex {
    const strings = new Strings();
    return new LogIndex({
      strings,
      episodes: new Episodes(strings),
      ranges: new Ranges(),
      tasks: new TaskLines(),
      segments: [],
      consents: [],
      problems: [],
    });
  }

  /** The number of a segment, which is new when it was not known. */
  segment(name: string): number {
    const { segments } = this.parts;
    const known = segments.findIndex((segment) => segment.name === name);
    if (known !== -1) return known;
    const nothing = { scanned: 0, lines: 0, fingerprint: undefined, unknown: 0, tail: 0 };
    return segments.push({ name, ...nothing, sequence: newSequence(), sum: 0 }) - 1;
  }

  /** Takes in one line of a segment; lines must come in order, each once. Lines already read are passed over. */
  addLine(segment: number, buffer: Buffer, start: number, end: number, offset: number): void {
    const state = this.parts.segments[segment]!;
    if (offset < state.scanned) return;
    state.scanned = offset + (end - start) + 1;
    state.lines += 1;
    if (offset === 0) {
      state.fingerprint = crc32(buffer.subarray(start, Math.min(end, start + FINGERPRINT_BYTES)));
    }
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

  private addEvent(
    segment: number,
    buffer: Buffer,
    start: number,
    end: number,
    offset: number,
    seal: Seal,
  ): void {
    const { name, lines, sequence } = this.parts.segments[segment]!;
    const front = peek(buffer, start, end);
    const { refused, missing } = follow(sequence, seal, front?.kind);
    const reason = refused ?? missing;
    if (reason !== undefined) this.parts.problems.push({ file: name, line: lines, reason });
    if (refused !== undefined) {
      if (front?.episode !== undefined) this.addUnreadable(segment, front.episode, offset, end - start);
      return;
    }
    if (front && this.addFast(segment, front, buffer, start, end, offset)) return;
    const isRead = this.addWhole(segment, buffer, start, end, offset);
    if (!isRead && front?.episode !== undefined)
      this.addUnreadable(segment, front.episode, offset, end - start);
  }

  /** The line of an episode that is known belongs to its ranges: who reads the episode whole learns that it is damaged. */
  private addUnreadable(segment: number, episode: string, offset: number, length: number): void {
    const { episodes, ranges } = this.parts;
    const row = episodes.find(episode);
    if (row === undefined) return;
    const { lastRange } = episodes.columns;
    lastRange.set(row, ranges.add(lastRange.get(row), segment, offset, length));
    this.unsettled.add(row);
    if (this.isFollowed) this.touched.add(row);
  }

  /** A line over the limit is reported, once also when it is met again because it has no end yet. */
  addTooLong(segment: number, limit: number): void {
    const { name, lines } = this.parts.segments[segment]!;
    if (this.parts.problems.some((problem) => problem.file === name && problem.line === lines + 1)) return;
    const reason = `The line is over ${limit} bytes long and is passed over.`;
    this.parts.problems.push({ file: name, line: lines + 1, reason });
  }

  /** What most lines need is told by their front and a few bytes more. False: parse the line whole. */
  private addFast(
    segment: number,
    front: NonNullable<ReturnType<typeof peek>>,
    buffer: Buffer,
    start: number,
    end: number,
    offset: number,
  ): boolean {
    const { kind, episode, at, turn } = front;
    if (episode === undefined) {
      // Without a check sum only parsing all of a task tells whether it can be read.
      const isTrusted = kind === 'task' && this.parts.segments[segment]!.sequence.isSealed;
      return isTrusted && this.addTask(segment, front.rest, buffer, end, offset, start);
    }
    switch (kind) {
      case 'agent-turn':
      case 'candidates':
      case 'choice':
      case 'answered':
      case 'deleted':
      case 'undeleted': {
        const row = this.episodeLine(segment, episode, at, offset, end - start);
        this.applySimple(row, kind, turn);
        return true;
      }
      case 'reply': {
        const match = REPLY.exec(buffer.toString('latin1', front.rest, Math.min(end, front.rest + 80)));
        if (!match) return false;
        const row = this.episodeLine(segment, episode, at, offset, end - start);
        const [, author, milliseconds] = match;
        const timed = author !== 'simulator' && milliseconds !== undefined;
        this.applyReply(row, turn, timed ? Number(milliseconds) : undefined);
        return true;
      }
      case 'leak': {
        const match = LEAK.exec(buffer.toString('latin1', front.rest, Math.min(end, front.rest + 64)));
        if (!match) return false;
        const row = this.episodeLine(segment, episode, at, offset, end - start);
        this.applyLeak(row, turn, Number(match[1]), match[2] === 'true');
        return true;
      }
      case 'grade': {
        const match = GRADE.exec(buffer.toString('latin1', front.rest, Math.min(end, front.rest + 96)));
        if (!match) return false;
        const row = this.episodeLine(segment, episode, at, offset, end - start);
        const [, mode, reward, success] = match as unknown as [string, 'fixed' | 'paper', string, string];
        const outcome = success === 'null' ? null : success === 'true';
        this.parts.episodes.setGrade(row, mode, reward === 'null' ? null : Number(reward), outcome);
        return true;
      }
      case 'episode-started': {
        const event = readStart(buffer.subarray(start, end));
        if (!event) return false;
        const isFirst = this.parts.episodes.find(episode) === undefined;
        const row = this.episodeLine(segment, episode, at, offset, end - start);
        if (!isFirst) this.unsettled.add(row);
        this.applyStart(row, event, at, segment);
        return true;
      }
      default:
        return false;
    }
  }

  private addTask(
    segment: number,
    rest: number,
    buffer: Buffer,
    end: number,
    offset: number,
    start: number,
  ): boolean {
    const match = TASK.exec(buffer.toString('latin1', rest, Math.min(end, rest + 256)));
    if (!match) return false;
    this.parts.tasks.add(this.parts.strings.number(match[1]!), segment, offset, end - start);
    return true;
  }

  /** Lines that say more than their front, and lines that others wrote. False when the line is passed over. */
  private addWhole(segment: number, buffer: Buffer, start: number, end: number, offset: number): boolean {
    const event = this.parse(segment, buffer, start, end);
    if (!event) return false;
    const { parts } = this;
    switch (event.event) {
      case 'segment':
        parts.segments[segment]!.sequence.without = event.without ?? [];
        return true;
      case 'task':
        parts.tasks.add(parts.strings.number(event.task.id), segment, offset, end - start);
        return true;
      case 'consent':
        parts.consents.push(consentOf(event));
        return true;
      default: {
        const isFirst = parts.episodes.find(event.episode) === undefined;
        const row = this.episodeLine(segment, event.episode, Date.parse(event.at), offset, end - start);
        // Lines before the start, or a second start: only the whole episode tells what holds.
        if (event.event === 'episode-started' && !isFirst) this.unsettled.add(row);
        this.apply(row, event, segment);
        return true;
      }
    }
  }

  private parse(segment: number, buffer: Buffer, start: number, end: number): LogEvent | undefined {
    const state = this.parts.segments[segment]!;
    const read = readEvent(buffer.subarray(start, end));
    if ('event' in read) return read.event;
    if ('unknown' in read) state.unknown += 1;
    else this.parts.problems.push({ file: state.name, line: state.lines, reason: read.reason });
    return undefined;
  }

  /** Puts the line down in the episode's byte ranges. */
  private episodeLine(segment: number, episode: string, at: number, offset: number, length: number): number {
    const { episodes, ranges } = this.parts;
    const { lastAt, lastRange } = episodes.columns;
    const row = episodes.row(episode);
    const last = lastRange.get(row);
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

  private apply(
    row: number,
    event: Exclude<LogEvent, { event: 'segment' | 'task' | 'consent' }>,
    segment: number,
  ): void {
    const { episodes } = this.parts;
    switch (event.event) {
      case 'episode-started':
        this.applyStart(row, event, Date.parse(event.at), segment);
        return;
      case 'leak':
        this.applyLeak(row, event.turn, event.fraction, event.leaked);
        return;
      case 'grade':
        episodes.setGrade(row, event.grade.mode, event.grade.reward, event.grade.success);
        return;
      case 'hand-over':
        episodes.seat(row, event.to);
        return;
      case 'rating':
        episodes.columns.stars.set(row, event.stars ?? 0);
        return;
      case 'abandoned':
        if (episodes.isAnswered(row)) this.unsettled.add(row);
        episodes.setState(row, event.reason);
        return;
      case 'agent-turn':
      case 'candidates':
      case 'choice':
        this.applySimple(row, event.event, event.turn);
        return;
      case 'reply':
        this.applyReply(row, event.turn, event.author === 'simulator' ? undefined : event.milliseconds);
        return;
      case 'turn-rating':
        this.applySimple(row, event.event, event.turn);
        return;
      case 'credit-verdict':
        // It may take back or replace another one, which only the whole episode tells.
        this.unsettled.add(row);
        return;
      case 'lines-lost':
        this.unsettled.add(row);
        return;
      case 'turn-superseded':
        // The turn that follows it says so again.
        return;
      case 'outcome':
        // No list shows it.
        return;
      case 'resumed':
        episodes.resume(row, event.agent);
        this.applySimple(row, event.event, 0);
        return;
      default:
        this.applySimple(row, event.event, 0);
        return;
    }
  }

  private applyStart(row: number, event: StartFields, at: number, segment: number): void {
    const { episodes, strings, tasks } = this.parts;
    episodes.start(row, event, at);
    const line = tasks.find(strings.number(event.task), segment);
    episodes.columns.taskLine.set(row, line);
    // Its own segment lost the task, or never had it: whether another copy may stand for it, all of them tell.
    if (line < 0 || tasks.range(line).segment !== segment) this.unsettled.add(row);
  }

  /** The row of the line that holds an episode's task; -1 when the log does not. */
  taskLine(row: number): number {
    const { task, taskLine } = this.parts.episodes.columns;
    if (taskLine.get(row) < 0) taskLine.set(row, this.parts.tasks.find(task.get(row), -1));
    return taskLine.get(row);
  }

  private applySimple(
    row: number,
    kind:
      | 'agent-turn'
      | 'candidates'
      | 'choice'
      | 'turn-rating'
      | 'answered'
      | 'resumed'
      | 'deleted'
      | 'undeleted',
    turn: number,
  ): void {
    const { episodes } = this.parts;
    const { turns, choices, undecidedTurn } = episodes.columns;
    switch (kind) {
      case 'agent-turn':
        if (!this.isNext(row, turn)) this.unsettled.add(row);
        turns.set(row, turn);
        undecidedTurn.set(row, 0);
        return;
      case 'candidates':
        if (!this.isNext(row, turn)) this.unsettled.add(row);
        undecidedTurn.set(row, turn);
        return;
      case 'choice':
        if (turn !== undecidedTurn.get(row)) this.unsettled.add(row);
        choices.set(row, choices.get(row) + 1);
        undecidedTurn.set(row, 0);
        return;
      case 'answered':
        episodes.setState(row, 'answered');
        return;
      case 'resumed':
        if (episodes.isAnswered(row)) this.unsettled.add(row);
        episodes.setState(row, 'open');
        return;
      case 'deleted':
        episodes.delete(row);
        return;
      case 'undeleted':
        episodes.undelete(row);
        return;
      case 'turn-rating':
        if (turn > turns.get(row)) this.unsettled.add(row);
        return;
    }
  }

  /** Follows on the last turn, and that has its reply. */
  private isNext(row: number, turn: number): boolean {
    const { turns, lastReplyTurn } = this.parts.episodes.columns;
    return turn === turns.get(row) + 1 && lastReplyTurn.get(row) === turn - 1;
  }

  private applyReply(row: number, turn: number, milliseconds: number | undefined): void {
    const { episodes } = this.parts;
    const { turns, lastReplyTurn } = episodes.columns;
    if (turn !== turns.get(row) || turn <= lastReplyTurn.get(row)) this.unsettled.add(row);
    episodes.addReply(row, turn, milliseconds);
  }

  private applyLeak(row: number, turn: number, fraction: number, leaked: boolean): void {
    const { episodes } = this.parts;
    const known = episodes.columns.turns.get(row);
    if (turn > known || turn <= episodes.columns.lastLeakTurn.get(row)) this.unsettled.add(row);
    episodes.addLeak(row, turn, fraction, leaked);
  }
}

function consentOf({ pseudonym, purpose, level, at }: Extract<LogEvent, { event: 'consent' }>): Consent {
  return { pseudonym, purpose, at, ...(level && { level }) };
}

const NUMBER = '-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?';
const REPLY = new RegExp(
  `^,"author":"(developer|simulator|developer-edited-suggestion)",(?:"milliseconds":(${NUMBER}),)?"text"`,
);
const LEAK = new RegExp(`^,"fraction":(${NUMBER}),"leaked":(true|false)[,}]`);
const GRADE = new RegExp(
  `^,"grade":\\{"mode":"(fixed|paper)","reward":(${NUMBER}|null),"success":(true|false|null),`,
);
/** Ids with escapes or beyond ASCII are read by parsing the line. */
const TASK = /^,"task":\{"id":"([^"\\\u0080-\u00ff]*)"/;
