import { crc32 } from 'node:zlib';
import { LOG_VERSION, type EventKind, type LogEvent, eventSchema, type EventOf } from '../event';

/**
 * The keys that readers need come first, always in the same order, so that `peek` can classify a line without parsing
 * all of it.
 */
export function encodeEvent(event: LogEvent): Buffer {
  const fields: Readonly<Record<string, unknown>> = event;
  const { version, at, episode, turn, fraction, leaked, author, milliseconds, by } = fields;
  const seen = { fraction, leaked, author, milliseconds, by };
  const front = { version, event: event.event, episode, at, turn, ...seen };
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

export interface LineFront {
  readonly kind: EventKind;
  readonly episode: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** 0 if the event has none. */
  readonly turn: number;
  /** Where the rest of the line begins: the comma or brace after the fields above. */
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
  eventSchema.options.map(({ shape }) => {
    const kind = shape.event.value;
    const bytes = Buffer.from(kind);
    return [kindKey(bytes, 0, bytes.length), { kind, bytes }];
  }),
);
const knownKinds: ReadonlySet<unknown> = new Set([...KINDS.values()].map(({ kind }) => kind));

const isKnown = (kind: unknown): kind is EventKind => knownKinds.has(kind);

/**
 * A key of length, first and last letter, which distinguishes all known kinds; the other letters are compared
 * afterwards.
 */
function kindKey(buffer: Buffer, start: number, end: number): number {
  return ((end - start) * 256 + buffer[start]!) * 256 + buffer[end - 1]!;
}

/**
 * Undefined if the line is not in Tandem's own key order (another version, an unknown kind, other spacing), and so must
 * be parsed whole. The rest is not checked, except that the line must end in a brace.
 */
export function peek(line: Buffer): LineFront | undefined {
  if (line[line.length - 1] !== BRACE || !matches(line, 0, FRONT)) return undefined;
  const kindEnd = quoteAfter(line, FRONT.length);
  if (kindEnd <= FRONT.length) return undefined;
  const known = KINDS.get(kindKey(line, FRONT.length, kindEnd));
  if (!known || !matches(line, FRONT.length, known.bytes)) return undefined;

  let episode: string | undefined;
  let next = kindEnd;
  if (matches(line, next, EPISODE)) {
    const idStart = next + EPISODE.length;
    next = quoteAfter(line, idStart);
    if (next === -1) return undefined;
    episode = line.toString('latin1', idStart, next);
  }
  if (!matches(line, next, AT)) return undefined;
  const atStart = next + AT.length;
  const at = isoTime(line, atStart);
  if (Number.isNaN(at) || atStart + ISO_LENGTH >= line.length) return undefined;
  let rest = atStart + ISO_LENGTH + 1;
  let turn = 0;
  if (matches(line, rest, TURN)) {
    rest += TURN.length;
    for (let digit = line[rest]! - 48; digit >= 0 && digit <= 9; digit = line[rest]! - 48) {
      turn = turn * 10 + digit;
      rest += 1;
    }
  }
  return { kind: known.kind, episode, at, turn, rest };
}

/** The kind and the episode of a damaged line, if its beginning is intact; the kind may be unknown here. */
export function beginningOf(line: Buffer): { readonly kind?: string; readonly episode?: string } {
  const [, kind, episode] = BEGINNING.exec(line.toString('utf8', 0, BEGINNING_BYTES)) ?? [];
  return { ...(kind !== undefined && { kind }), ...(episode !== undefined && { episode }) };
}

const BEGINNING = /^\{"version":1,"event":"([^"\\]*)"(?:,"episode":"([^"\\]*)")?/;
const BEGINNING_BYTES = 512;

/**
 * A line contains several events if the line feed between them was damaged or lost. The front of a line cannot occur
 * inside a string, because its quotes would be escaped.
 */
export function eventsIn(line: Buffer): { readonly event: Buffer; readonly offset: number }[] {
  const events = [];
  for (let from = 0; from < line.length;) {
    const found = line.indexOf(FRONT, from + FRONT.length);
    const next = found === -1 ? line.length : found;
    // The damaged line feed is one byte between the brace and the next front, or is gone.
    const isDamaged = next < line.length && line[next - 1] !== BRACE;
    events.push({ event: line.subarray(from, isDamaged ? next - 1 : next), offset: from });
    from = next;
  }
  return events;
}

export function matches(buffer: Buffer, start: number, expected: Buffer): boolean {
  for (let index = 0; index < expected.length; index += 1) {
    if (buffer[start + index] !== expected[index]) return false;
  }
  return true;
}

/** Position of the closing quote of a plain ASCII string without escapes; -1 for anything else. */
function quoteAfter(line: Buffer, start: number): number {
  for (let index = start; index < line.length; index += 1) {
    const byte = line[index]!;
    if (byte === QUOTE) return index;
    if (byte === BACKSLASH || byte >= 0x80) return -1;
  }
  return -1;
}

/** Milliseconds since 1970 of `2026-01-31T23:59:59.999Z"`, quote included; NaN for any other form. */
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

// The day is cached: adjacent lines usually share it, and computing it costs more than the rest of the front.
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

/*
 * Each line ends in a seal: its number within the segment, from 1, and the CRC-32 of all bytes of the line before the
 * sum. Lines of older Tandems have none. The seal is at the end so that the front of a line keeps its form.
 */

const NUMBER = Buffer.from(',"number":');
const SUM = Buffer.from(',"sum":"');
const SUM_DIGITS = 8;
/** Bytes from the comma before `sum` to the brace. */
const SUM_BYTES = SUM.length + SUM_DIGITS + 2;
const BRACE_AND_LINE_FEED = 2;

/** Maximum length of a seal, for any number. */
export const MAX_SEAL_BYTES = NUMBER.length + 16 + SUM_BYTES;

export function sealLine(line: Buffer, number: number): Buffer {
  const body = line.subarray(0, line.length - BRACE_AND_LINE_FEED);
  const counted = Buffer.from(`,"number":${number}`);
  const sum = crc32(counted, crc32(body)).toString(16).padStart(SUM_DIGITS, '0');
  return Buffer.concat([body, counted, Buffer.from(`,"sum":"${sum}"}\n`)]);
}

/** The line's number. `broken`: the line was changed after it was written. `none`: it has no seal, or a damaged one. */
export type Seal = 'none' | 'broken' | number;

export function sealOf(line: Buffer): Seal {
  const end = line.length;
  const sumStart = end - SUM_BYTES;
  if (sumStart <= 0 || !matches(line, sumStart, SUM)) return 'none';
  const sum = hexadecimal(line, sumStart + SUM.length);
  if (sum === undefined || line[end - 2] !== 0x22 || line[end - 1] !== 0x7d) return 'none';
  // A plain array is made in half the time that a `Buffer` takes.
  const summed = new Uint8Array(line.buffer, line.byteOffset, sumStart);
  if (crc32(summed) !== sum) return 'broken';
  return numberBefore(line, sumStart) ?? 'none';
}

/** Without the seal. */
export function bodyOf(line: Buffer): Buffer {
  if (typeof sealOf(line) !== 'number') return line;
  return line.subarray(0, line.lastIndexOf(NUMBER, line.length - SUM_BYTES));
}

function numberBefore(line: Buffer, end: number): number | undefined {
  let number = 0;
  let at = end;
  for (let place = 1; at > 0 && isDigit(line[at - 1]!); place *= 10) {
    at -= 1;
    number += (line[at]! - 0x30) * place;
  }
  const isCounted = at < end && matches(line, at - NUMBER.length, NUMBER);
  return isCounted ? number : undefined;
}

function hexadecimal(buffer: Buffer, start: number): number | undefined {
  let value = 0;
  for (let at = start; at < start + SUM_DIGITS; at += 1) {
    const byte = buffer[at]!;
    const digit = isDigit(byte) ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : undefined;
    if (digit === undefined) return undefined;
    value = value * 16 + digit;
  }
  return value;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The reason why a line is unreadable; `told` says what it is about, if it is valid JSON as it was written. */
export interface Unreadable {
  readonly reason: string;
  readonly told?: { readonly kind?: string; readonly episode?: string };
}

/**
 * An event, or `unknown` for another version or kind, or the reason why the line is unreadable. A line with a wrong
 * check sum is always unreadable.
 */
export function readEvent(
  bytes: Buffer,
): { event: LogEvent } | { unknown: Record<string, unknown> } | Unreadable {
  if (sealOf(bytes) === 'broken')
    return {
      reason: 'The line was changed after it was written: its check sum is wrong. It is passed over.',
    };
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return { reason: 'The line is not JSON and is passed over.' };
    if (error instanceof TypeError) return { reason: 'The line is not valid UTF-8 and is passed over.' };
    throw error;
  }
  if (typeof value !== 'object' || value === null || !('event' in value) || !('version' in value)) {
    return { reason: 'The line is not an event of the log and is passed over.', told: {} };
  }
  if (value.version !== LOG_VERSION || !isKnown(value.event)) {
    return { unknown: value };
  }
  const told = {
    kind: value.event,
    ...('episode' in value && typeof value.episode === 'string' && { episode: value.episode }),
  };
  const parsed = eventSchema.safeParse(value);
  if (parsed.success && Number.isNaN(Date.parse(parsed.data.at))) {
    return { told, reason: `The ${told.kind} event is passed over: its time is not an ISO 8601 date.` };
  }
  if (parsed.success) return { event: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  return { told, reason: `The ${told.kind} event is passed over: ${where}: ${issue?.message ?? ''}.` };
}

/** In milliseconds since 1970; undefined if there is none. */
export function timeIn(line: Buffer): number | undefined {
  const time = Date.parse(/"at": ?"([^"]*)"/.exec(line.toString('latin1'))?.[1] ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** The first line of a segment; undefined for any other line and if it is unreadable. */
export function headerOf(line: Buffer): EventOf<'segment'> | undefined {
  const read = readEvent(line);
  return 'event' in read && read.event.event === 'segment' ? read.event : undefined;
}

/** Clocks of machines differ by less; only a wrong clock, or a forged line, is further ahead. */
const MAX_AHEAD_MS = 24 * 60 * 60_000;
/** Before Tandem: a machine at such a time has lost its clock, and does not know which lines are from the future. */
const FIRST_MS = Date.UTC(2025, 0, 1);
const LAST_WITHOUT_CLOCK_MS = Date.UTC(2100, 0, 1);

/** The latest time that a line may have, in milliseconds since 1970. @param ahead how much clocks may differ */
export function latestTime(ahead = MAX_AHEAD_MS): number {
  const now = Date.now();
  return now < FIRST_MS ? LAST_WITHOUT_CLOCK_MS : now + ahead;
}

/**
 * True for a time, in milliseconds since 1970, that no line can have been written at. Such a line keeps its place in its
 * segment, and moves no later time.
 */
export const isFuture = (time: number): boolean => time > latestTime();

/** Puts lines in order; one from the future comes before all others, so that it can be taken back. */
export function orderOf(at: string): number {
  const time = Date.parse(at);
  return isFuture(time) ? Number.NEGATIVE_INFINITY : time;
}

/** A time of lost lines, which were lost by now whatever a file says, even if it is no time at all. */
export const byNow = (time: number): number => (time <= latestTime(0) ? time : latestTime(0));
