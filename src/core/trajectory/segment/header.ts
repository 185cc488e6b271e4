import { randomUUID } from 'node:crypto';
import { LOG_VERSION, type EventOf } from '../event';
import { encodeEvent } from './line';
import type { NumberRange } from './sequence';

/**
 * The first line of a segment, without a seal. Its id is new, so that readers notice when the bytes they know have moved.
 *
 * @param without numbers of lines that are no longer in the segment
 * @param lost until when lines may have been written of which nobody can tell what they said; ISO 8601
 * @param older what segments without check sums hold
 */
export function segmentHeader(
  without: readonly NumberRange[] = [],
  lost?: string,
  older: EventOf<'segment'>['older'] = [],
): Buffer {
  const at = new Date().toISOString();
  const header = { version: LOG_VERSION, event: 'segment', at, segment: randomUUID() } as const;
  return encodeEvent({
    ...header,
    ...(without.length > 0 && { without }),
    ...(lost !== undefined && { lost }),
    ...(older.length > 0 && { older }),
  });
}
