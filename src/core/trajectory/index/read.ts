import { collaboratorSchema, eventSchema, LOG_VERSION, type LogEvent } from '../event';
import { sealOf } from '../segment/seal';
import type { NumberRange } from '../segment/sequence';
import type { StartFields } from './episodes';

const knownKinds: ReadonlySet<unknown> = new Set(eventSchema.options.map(({ shape }) => shape.event.value));
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses one line whole: an event, or `unknown` for another version or kind, or the reason why it cannot be read. A line
 * whose check sum is wrong cannot, whatever it says.
 */
export function readEvent(
  bytes: Buffer,
): { event: LogEvent } | { unknown: Record<string, unknown> } | { reason: string } {
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
    return { reason: 'The line is not an event of the log and is passed over.' };
  }
  if (value.version !== LOG_VERSION || !knownKinds.has(value.event)) {
    return { unknown: value };
  }
  const parsed = eventSchema.safeParse(value);
  if (parsed.success && Number.isNaN(Date.parse(parsed.data.at))) {
    return { reason: `The ${String(value.event)} event is passed over: its time is not an ISO 8601 date.` };
  }
  if (parsed.success) return { event: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  return { reason: `The ${String(value.event)} event is passed over: ${where}: ${issue?.message ?? ''}.` };
}

/** The numbers that the first line of a segment says are no longer in it. */
export function withoutOf(line: Buffer): readonly NumberRange[] {
  const read = readEvent(line);
  return 'event' in read && read.event.event === 'segment' ? (read.event.without ?? []) : [];
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
