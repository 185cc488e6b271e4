import { describe, expect, it } from 'vitest';
import { eventSchema, LOG_VERSION, type NewEvent } from '../../../../src/core/trajectory/event';
import { encodeEvent, peek } from '../../../../src/core/trajectory/segment/line';
import { answered, doubling } from '../../../fixtures/log';
import { anyEvents, seeded } from '../random';

function encode(event: NewEvent, at = '2026-03-04T05:06:07.089Z'): Buffer {
  return encodeEvent({ ...event, version: LOG_VERSION, at });
}

describe('a line', () => {
  it('is the event as JSON, and its front tells what it is', () => {
    const random = seeded(1);
    const events: NewEvent[] = [
      { event: 'task', task: doubling },
      { event: 'consent', pseudonym: 'kim', purpose: 'research' },
      ...Array.from({ length: 100 }, (_, number) => anyEvents(`e${number}`, random)).flat(),
    ];
    for (const event of events) {
      const line = encode(event);
      const at = '2026-03-04T05:06:07.089Z';
      expect(JSON.parse(line.toString())).toEqual({ ...event, version: LOG_VERSION, at });
      expect(line.indexOf('\n')).toBe(line.length - 1);
      // The line is in the middle of a buffer, as in a scan.
      const buffer = Buffer.concat([Buffer.from('before\n'), line, Buffer.from('{"version":1')]);
      expect(peek(buffer.subarray(7, 7 + line.length - 1))).toMatchObject({
        kind: event.event,
        episode: 'episode' in event ? event.episode : undefined,
        at: Date.parse(at),
        turn: 'turn' in event ? event.turn : 0,
      });
    }
  });

  it('is recognised by its front, whatever its kind', () => {
    const at = '2026-03-04T05:06:07.089Z';
    for (const { shape } of eventSchema.options) {
      const kind = shape.event.value;
      const line = Buffer.from(JSON.stringify({ version: LOG_VERSION, event: kind, episode: 'e1', at }));
      expect(peek(line)?.kind).toBe(kind);
    }
  });

  it('is parsed whole when its front is written in any other way', () => {
    const line = encode(answered('e1', 2)).toString().trimEnd();
    const others = [
      line.replace('"version":1', '"version":2'),
      line.replace('"version":1', '"version": 1'),
      line.replace('"answered"', '"applause"'),
      line.replace('"e1"', '"é1"'),
      line.replace('"e1"', String.raw`"\u00e91"`),
      line.replace('07.089Z', '07Z'),
      line.replace('07.089Z', '07.089+01:00'),
      line.slice(0, -1),
      line.slice(0, 40),
      line.slice(0, 10),
      '}',
    ];
    for (const other of others) {
      const bytes = Buffer.from(other);
      expect(peek(bytes), other).toBeUndefined();
    }
  });
});
