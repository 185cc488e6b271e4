import { collaboratorSchema, eventSchema, LOG_VERSION, type EventOf, type LogEvent } from '../event';
import { sealOf } from '../segment/seal';
import type { StartFields } from './episodes';

const knownKinds: ReadonlySet<unknown> = new Set(eventSchema.options.map(({ shape }) => shape.event.value));
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Why a line cannot be read; `told` says what it is about all the same, where it is JSON as it was written. */
export interface Unreadable {
  readonly reason: string;
  readonly told?: { readonly kind?: string; readonly episode?: string };
}

/**
 * Parses one line whole: an event, or `unknown` for another version or kind, or the reason why it cannot be read. A line
 * whose check sum is wrong cannot, whatever it says.
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

/** The time on a line, in milliseconds since 1970; undefined when none can be found. */
export function timeIn(line: Buffer): number | undefined {
  const time = Date.parse(/"at": ?"([^"]*)"/.exec(line.toString('latin1'))?.[1] ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** The first line of a segment; undefined when it is another one, or cannot be read. */
export function headerOf(line: Buffer): EventOf<'segment'> | undefined {
  const read = readEvent(line);
  return 'event' in read && read.event.event === 'segment' ? read.event : undefined;
}

/**
 * The fields of a start that a row needs, checked by hand: there is one for every episode, and checking all of the event
 * against its schema would take longer than parsing it. Undefined when a field is not as it must be.
 */
export function readStart(bytes: Uint8Array): StartFields | undefined {
  let value: Partial<Record<keyof StartFields, unknown>>;
  try {
    value = JSON.parse(utf8.decode(bytes)) as typeof value;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
  const { task, agent, seed, pack, rollout, collection, collaborator } = value;
  const isWhole =
    typeof task === 'string' &&
    typeof agent === 'string' &&
    typeof seed === 'number' &&
    (pack === undefined || typeof pack === 'string') &&
    (rollout === undefined || typeof rollout === 'number') &&
    (collection === undefined || typeof collection === 'string') &&
    collaboratorSchema.safeParse(collaborator).success;
  return isWhole ? (value as StartFields) : undefined;
}
