import { expect, test } from 'vitest';
import { askedWait, waitBefore } from '../../../../src/core/model/chat/retry';

const settings = { attempts: 5, firstWaitMs: 500, longestWaitMs: 4000, longestServerWaitMs: 60_000 };

test('each wait is up to twice as long as the one before, until the longest', () => {
  const longest = [1, 2, 3, 4, 5, 6].map((attempt) => waitBefore(attempt, settings, undefined, () => 1));
  expect(longest).toEqual([500, 1000, 2000, 4000, 4000, 4000]);
});

test('waits are drawn at random between half and the whole step', () => {
  expect([0, 0.5, 1].map((draw) => waitBefore(2, settings, undefined, () => draw))).toEqual([500, 750, 1000]);
});

test('a wait that the server asks for is never cut short', () => {
  expect(waitBefore(1, settings, 20_000, () => 0)).toBe(20_000);
  expect(waitBefore(1, settings, 20_000, () => 1)).toBe(20_500);
});

const now = Date.parse('2026-11-20T12:00:00Z');

test.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  [{ 'retry-after': 'Fri, 20 Nov 2026 12:00:09 GMT' }, 9000],
  [{ 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'Fri, 20 Nov 2026 15:00:09 GMT', date: 'Fri, 20 Nov 2026 15:00:04 GMT' }, 5000],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('the headers %o ask for a wait of %s milliseconds', (headers, wait) => {
  expect(askedWait(new Headers(headers as Record<string, string>), now)).toBe(wait);
});
