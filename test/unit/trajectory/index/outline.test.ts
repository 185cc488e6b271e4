import { expect, it } from 'vitest';
import { LOG_VERSION } from '../../../../src/core/trajectory/event';
import { outlineOf } from '../../../../src/core/trajectory/index/outline';
import { encodeEvent, peek } from '../../../../src/core/trajectory/segment/line';
import { anyEvents, seeded } from '../random';

/** Of these a log holds most; parsing them whole would take several times as long. */
const FREQUENT = new Set(['episode-started', 'agent-turn', 'reply', 'leak', 'answered', 'grade']);

it('tells what a list needs of frequent events without parsing their texts', () => {
  const random = seeded(1);
  const seen = new Set<string>();
  for (const event of Array.from({ length: 200 }, (_, number) => anyEvents(`e${number}`, random)).flat()) {
    if (!FREQUENT.has(event.event)) continue;
    seen.add(event.event);
    // A grade without tests may be a page's score, which is read whole.
    if (event.event === 'grade') event.grade.tests = [{ status: 'passed', milliseconds: 1 }];
    const line = encodeEvent({ ...event, version: LOG_VERSION, at: '2026-03-04T05:06:07.089Z' }).subarray(
      0,
      -1,
    );
    expect(outlineOf(peek(line)!, line)?.event, line.toString()).toBe(event.event);
  }
  expect(seen).toEqual(FREQUENT);
});
