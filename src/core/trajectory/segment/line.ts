import { LOG_VERSION, type EventKind, type LogEvent } from '../event';

/**
 * Writes an event as one line. The keys that a reader looks at first come first, always in the same order, so that
 * `peek` can tell what a line is without parsing all of it.
 */
export function encodeEvent(event: LogEvent): Buffer {
  const fields: Readonly<Record<string, unknown>> = event;
  const { version, at, episode, turn, fraction, leaked, author, milliseconds } = fields;
  const front = { version, event: event.event, episode, at, turn, fraction, leaked, author, milliseconds };
  const line = { ...front, ...fields };
  if (event.event === 'grade') Object.assign(line, { grade: inOrder(event.grade, GRADE_ORDER) });
  if (event.event === 'task') Object.assign(line, { task: inOrder(event.task, TASK_ORDER) });
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

const GRADE_ORDER = ['mode', 'reward', 'success'];
const TASK_ORDER = ['id'];

function inOrder(object: object, first: readonly string[]): object {
  const fields = object as Record<string, unknown>;
  return { ...Object.fromEntries(first.map((key) => [key, fields[key]])), ...fields };
}

/** What stands at the front of a line that Tandem wrote. */
export interface Peek {
  readonly kind: EventKind;
  /** Absent on events outside of an episode. */
  readonly episode: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** 0 when the event has none. */
  readonly turn: number;
  /** Where the rest of the line begins in the buffer: at the comma or brace after what was peeked at. */
  readonly rest: number;
}

const FRONT = Buffer.from(`{"version":${LOG_VERSION},"event":"`);
const EPISODE = Buffer.from(`","episode":"`);
const AT = Buffer.from(`","at":"`);
const TURN = Buffer.from(`,"turn":`);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7d;
const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length;

const KINDS: ReadonlyMap<number, { readonly kind: EventKind; readonly bytes: Buffer }> = new Map(
  (
    [
      'segment',
      'task',
      'episode-started',
      'agent-turn',
      'candidates',
      'choice',
      'reply',
      'hand-over',
      'leak',
      'answered',
      'grade',
      'rating',
      'turn-rating',
      'turn-superseded',
      'credit-verdict',
      'outcome',
      'abandoned',
      'resumed',
      'deleted',
      'undeleted',
      'lines-lost',
      'consent',
    ] satisfies EventKind[]
  ).map((kind) => {
    const bytes = Buffer.from(kind);
    return [kindKey(bytes, 0, bytes.length), { kind, bytes }];
  }),
);

/** Length and first letter tell all known kinds apart; the rest is compared afterwards. */
function kindKey(buffer: Buffer, start: number, end: number): number {
  return (end - start) * 256 + buffer[start]!;
}

/**
 * Reads the front of a line in Tandem's own key order. Undefined when the line is written in any other way (another
 * version, an unknown kind, other spacing): then it must be parsed whole. What follows the front is not checked, save
 * that the line ends in a brace.
 */
export function peek(buffer: Buffer, start: number, end: number): Peek | undefined {
  if (buffer[end - 1] !== BRACE || !matches(buffer, start, FRONT)) return undefined;
  const kindStart = start + FRONT.length;
  const kindEnd = quoteAfter(buffer, kindStart, end);
  if (kindEnd <= kindStart) return undefined;
  const known = KINDS.get(kindKey(buffer, kindStart, kindEnd));
  if (!known || !matches(buffer, kindStart, known.bytes)) return undefined;

  let episode: string | undefined;
  let next = kindEnd;
  if (matches(buffer, next, EPISODE)) {
    const idStart = next + EPISODE.length;
    next = quoteAfter(buffer, idStart, end);
    if (next === -1) return undefined;
    episode = buffer.toString('latin1', idStart, next);
  }
  if (!matches(buffer, next, AT)) return undefined;
  const atStart = next + AT.length;
  const at = isoTime(buffer, atStart);
  if (Number.isNaN(at) || atStart + ISO_LENGTH >= end) return undefined;
  let rest = atStart + ISO_LENGTH + 1;
  let turn = 0;
  if (matches(buffer, rest, TURN)) {
    rest += TURN.length;
    for (let digit = buffer[rest]! - 48; digit >= 0 && digit <= 9; digit = buffer[rest]! - 48) {
      turn = turn * 10 + digit;
      rest += 1;
    }
  }
  return { kind: known.kind, episode, at, turn, rest };
}

/** What the beginning of a damaged line still says: of a kind that need not be known here, and of an episode. */
export function beginningOf(line: Buffer): { readonly kind?: string; readonly episode?: string } {
  const [, kind, episode] = BEGINNING.exec(line.toString('utf8', 0, BEGINNING_BYTES)) ?? [];
  return { ...(kind !== undefined && { kind }), ...(episode !== undefined && { episode }) };
}

const BEGINNING = /^\{"version":1,"event":"([^"\\]*)"(?:,"episode":"([^"\\]*)")?/;
const BEGINNING_BYTES = 512;

/**
 * Where each event of a line begins and ends: more than one stands in it when the line feed between them was damaged or
 * lost. Inside of a string the front of a line cannot stand, because its quotes would be escaped.
 */
export function eventsIn(buffer: Buffer, start: number, end: number): { start: number; end: number }[] {
  const events: { start: number; end: number }[] = [];
  for (let from = start; from < end;) {
    const found = buffer.indexOf(FRONT, from + FRONT.length);
    const next = found === -1 || found >= end ? end : found;
    // What was the line feed is one byte between the brace and the next front, or is gone.
    const isDamaged = next < end && buffer[next - 1] !== BRACE;
    events.push({ start: from, end: isDamaged ? next - 1 : next });
    from = next;
  }
  return events;
}

/** Whether these bytes stand at this place of the buffer. */
export function matches(buffer: Buffer, start: number, expected: Buffer): boolean {
  for (let index = 0; index < expected.length; index += 1) {
    if (buffer[start + index] !== expected[index]) return false;
  }
  return true;
}

/** The closing quote of a string of plain ASCII without escapes; -1 when it is anything else. */
function quoteAfter(buffer: Buffer, start: number, end: number): number {
  for (let index = start; index < end; index += 1) {
    const byte = buffer[index]!;
    if (byte === QUOTE) return index;
    if (byte === BACKSLASH || byte >= 0x80) return -1;
  }
  return -1;
}

/** `2026-01-31T23:59:59.999"` with the quote, in milliseconds since 1970; NaN for any other form. */
function isoTime(buffer: Buffer, start: number): number {
  if (buffer[start + ISO_LENGTH] !== QUOTE || buffer[start + ISO_LENGTH - 1] !== 0x5a) return Number.NaN;
  const day =
    digits(buffer, start, 4) * 10_000 + digits(buffer, start + 5, 2) * 100 + digits(buffer, start + 8, 2);
  if (day !== lastDay) {
    lastDay = day;
    lastMidnight = Date.UTC(Math.floor(day / 10_000), (Math.floor(day / 100) % 100) - 1, day % 100);
  }
  const hour = digits(buffer, start + 11, 2);
  const minute = digits(buffer, start + 14, 2);
  const second = digits(buffer, start + 17, 2);
  return lastMidnight + ((hour * 60 + minute) * 60 + second) * 1000 + digits(buffer, start + 20, 3);
}

// Neighbouring lines are of one day, and working a day out costs more than the rest of the line's front.
let lastDay = 0;
let lastMidnight = 0;

function digits(buffer: Buffer, start: number, count: number): number {
  let value = 0;
  for (let index = start; index < start + count; index += 1) {
    const digit = buffer[index]! - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
