import { eventSchema, LOG_VERSION, type EventOf, type LogEvent } from '../event';
import { sealOf } from './seal';

const knownKinds: ReadonlySet<unknown> = new Set(eventSchema.options.map(({ shape }) => shape.event.value));
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The reason why a line is unreadable; `told` says what it is about, if it is valid JSON as it was written. */
export interface Unreadable {
  readonly reason: string;
  readonly told?: { readonly kind?: string; readonly episode?: string };
}

/**
 * Parses a whole line: an event, or `unknown` for another version or kind, or the reason why it is unreadable. A line
 * with a wrong check sum is always unreadable.
 */
export function readEvent(
  bytes: Buffer,
): { event: LogEvent } | { unknown: Record<string, unknown> } | Unreadable {
  if (sealOf(bytes, 0, bytes.length) === 'broken')
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
  if (value.version !== LOG_VERSION || !knownKinds.has(value.event)) {
    return { unknown: value };
  }
  const told = {
    kind: String(value.event),
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

/** Returns the time on a line, in milliseconds since 1970; undefined if there is none. */
export function timeIn(line: Buffer): number | undefined {
  const time = Date.parse(/"at": ?"([^"]*)"/.exec(line.toString('latin1'))?.[1] ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** Parses the first line of a segment; returns undefined for any other line and if it is unreadable. */
export function headerOf(line: Buffer): EventOf<'segment'> | undefined {
  const read = readEvent(line);
  return 'event' in read && read.event.event === 'segment' ? read.event : undefined;
}
