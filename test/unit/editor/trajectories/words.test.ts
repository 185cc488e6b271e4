import { describe, expect, it } from 'vitest';
import {
  allTags,
  givenTitle,
  headline,
  importWords,
  mergeWords,
  notes,
  tagsInShort,
} from '../../../../src/editor/trajectories/words';
import type { TrajectorySummary } from '../../../../src/core/trajectory/trajectory';
import { english } from '../translate';

describe('the line above the list', () => {
  const counts = { total: 1204, graded: 1100, successes: 450, leaked: 7, tasks: 1000, successRate: 0.41 };

  it('says how many there are, how many succeed with the interval, and how many leak', () => {
    expect(headline(counts, english)).toBe('1,204 · 41 % success (38–44 %) · 0.6 % leaked');
  });

  it('leaves out what nothing is known of', () => {
    expect(headline({ ...counts, total: 3, leaked: 0, tasks: 0, successRate: null }, english)).toBe('3');
    expect(headline({ ...counts, total: 0 }, english)).toBe('');
  });

  it('gives no interval of fewer than twenty tasks', () => {
    expect(headline({ ...counts, total: 3, leaked: 0, tasks: 3, successRate: 0 }, english)).toBe(
      '3 · 0 % success',
    );
  });
});

describe('the result of an import', () => {
  it('names the first bad line', () => {
    expect(importWords({ imported: 2, alreadyThere: 0, bad: [] }, english)).toBe('2 dialogues imported.');
    const bad = [7, 9].map((line) => ({ file: 'rows.jsonl', line, reason: 'The line is not JSON.' }));
    expect(importWords({ imported: 1, alreadyThere: 3, bad }, english)).toBe(
      '1 dialogue imported. 3 were there already. 2 lines cannot be read; line 7: The line is not JSON.',
    );
  });

  it('of a data folder names the files that differ', () => {
    expect(mergeWords({ imported: 2, deleted: 0, different: [] }, english)).toBe('2 dialogues imported.');
    expect(mergeWords({ imported: 0, deleted: 0, different: ['a.jsonl'] }, english)).toBe(
      '0 dialogues imported. Files of the log that were changed by an erasure, here or there, stay as they are here: a.jsonl.',
    );
  });
});

describe('the result of an import of a data folder', () => {
  it('says how many were deleted there, and how they are shown again', () => {
    expect(mergeWords({ imported: 10, deleted: 2, different: [] }, english)).toBe(
      '10 dialogues imported. 2 were deleted in that folder and are hidden here too; “Restore Deleted Trajectories…” shows them again.',
    );
    expect(mergeWords({ imported: 0, deleted: 1, different: [] }, english)).toMatch(
      / 1 was deleted .* shows it again\.$/,
    );
  });
});

describe('what people say of a dialogue', () => {
  const summary = (said: Pick<TrajectorySummary, 'title' | 'tags' | 'note'>): TrajectorySummary =>
    said as TrajectorySummary;

  it('is in its row with three tags at most, and in its hover with all', () => {
    const some = summary({ title: 'A taxi', tags: ['a', 'b', 'c', 'd', 'e'], note: 'Odd.\nOften.' });
    expect(tagsInShort(some)).toEqual(['#a', '#b', '#c', '+2']);
    expect(allTags(some)).toEqual(['#a', '#b', '#c', '#d', '#e']);
    expect([givenTitle(some), notes(some)]).toEqual(['A taxi', ['Odd.\nOften.']]);
    const none = summary({});
    expect([tagsInShort(none), allTags(none), givenTitle(none), notes(none)]).toEqual([
      [],
      [],
      undefined,
      [],
    ]);
  });

  it('hides nothing, and is cut where it has no end', () => {
    expect(tagsInShort(summary({ tags: ['a\u202eb'] }))).toEqual(['#a[U+202E]b']);
    expect(givenTitle(summary({ title: 'x'.repeat(5000) }))).toBe(`${'x'.repeat(100)}…`);
    expect(notes(summary({ note: 'x'.repeat(5000) }))).toEqual([`${'x'.repeat(1000)}…`]);
  });
});
