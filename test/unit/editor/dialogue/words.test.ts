import { expect, it } from 'vitest';
import {
  givenTitle,
  headline,
  notes,
  outcomeWords,
  tagsInShort,
} from '../../../../src/editor/dialogue/words';
import type { TrajectorySummary } from '../../../../src/core/trajectory/trajectory';
import { english } from '../translate';

const summary = (fields: Partial<TrajectorySummary>): TrajectorySummary => fields as TrajectorySummary;

it('the line above the list says how many there are, how many succeed with the interval, and how many leak', () => {
  const counts = { total: 1204, graded: 1100, successes: 450, leaked: 7, tasks: 1000, successRate: 0.41 };
  expect(headline(counts, english)).toBe('1,204 · 41 % success (38–44 %) · 0.6 % leaked');
  expect(headline({ ...counts, total: 3, leaked: 0, tasks: 0, successRate: null }, english)).toBe('3');
  // Fewer than twenty tasks have no interval.
  expect(headline({ ...counts, total: 3, leaked: 0, tasks: 3, successRate: 0 }, english)).toBe(
    '3 · 0 % success',
  );
});

it('a dialogue ends with its tests, its share of them where their number is not known, or its failure', () => {
  const answered = summary({ state: 'answered', grades: { fixed: { reward: 0.25, success: false } } });
  expect([8, undefined, 3].map((tests) => outcomeWords(answered, tests, english))).toEqual([
    ...['2/8 tests', '25 % of the tests', '25 % of the tests'],
  ]);
  expect(outcomeWords({ ...answered, state: 'abandoned', abandoned: 'failed' }, 8, english)).toBe('failed');
});

it('the tags, title and note of a dialogue hide nothing, and are cut where they have no end', () => {
  expect(tagsInShort(summary({ tags: ['a', 'b', 'c', 'd', 'e'] }))).toEqual(['#a', '#b', '#c', '+2']);
  expect(tagsInShort(summary({ tags: ['a\u202eb'] }))).toEqual(['#a[U+202E]b']);
  expect(givenTitle(summary({ title: 'x'.repeat(5000) }))).toBe(`${'x'.repeat(100)}…`);
  expect(notes(summary({ note: 'x'.repeat(5000) }))).toEqual([`${'x'.repeat(1000)}…`]);
});
