import { randomUUID } from 'node:crypto';
import { LOG_VERSION, type EventOf } from '../event';
import { encodeEvent } from './line';
import type { NumberRange } from './sequence';

/**
 * Returns the first line of a segment, without a seal. Its id is new, which tells readers that the bytes they know have
 * moved.
 *
 * @param without numbers of lines that are no longer in the segment
 * @param lost latest time of lost lines whose content nobody can tell; ISO 8601
 * @param older contents of the segments without check sums
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
