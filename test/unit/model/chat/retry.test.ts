import { expect, test } from 'vitest';
import { waitBefore } from '../../../../src/core/model/chat/failure';

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

test('a server that asks for no wait at all is asked again as late as one that says nothing', () => {
  expect(waitBefore(3, settings, 0, () => 0)).toBe(1000);
});
