import { expect, it } from 'vitest';
import {
  givenTitle,
  headline,
  importChanges,
  importWords,
  mergeWords,
  notes,
  outcomeWords,
  tagsInShort,
} from '../../../../src/editor/trajectories/words';
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

it('an import names the first bad line, the files that differ, and how many dialogues are hidden', () => {
  const bad = [7, 9].map((line) => ({ file: 'rows.jsonl', line, reason: 'The line is not JSON.' }));
  expect(importWords({ imported: 1, alreadyThere: 3, bad }, english)).toMatch(
    /^1 .* 3 .* 2 .*line 7: The line/,
  );
  const merged = mergeWords({ imported: 10, deleted: 2, different: ['a.jsonl'] }, english);
  expect(merged).toMatch(/^10 .*a\.jsonl/);
  expect(merged).toContain('2 were deleted');
});

it('an import says whom it renamed, which consent counts, what it left out and which times it changed', () => {
  const nothing = { renamed: [], lowered: [], leftOut: {}, limitedTimes: 0 };
  expect(importChanges(nothing, english)).toEqual([]);
  const changes = importChanges(
    {
      renamed: [{ from: 'ki\u202em', to: 'ki\u202em (2)' }],
      lowered: [{ pseudonym: 'ada', from: 'export', to: 'local' }],
      leftOut: { grade: 2, unreadable: 1 },
      limitedTimes: 3,
    },
    english,
  );
  expect(changes).toEqual([
    expect.stringMatching(/^ki\[U\+202E\]m .*“ki\[U\+202E\]m \(2\)”/),
    expect.stringMatching(/ada .*“local”.*“export”/),
    expect.stringContaining('grade: 2, unreadable: 1'),
    expect.stringContaining('(3)'),
  ]);
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
