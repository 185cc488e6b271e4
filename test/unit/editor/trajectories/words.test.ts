import { describe, expect, it } from 'vitest';
import { headline, importWords, mergeWords } from '../../../../src/editor/trajectories/words';
import { english } from '../translate';

describe('the line above the list', () => {
  const counts = { total: 1204, graded: 1100, successes: 450, leaked: 7, tasks: 1000, successRate: 0.41 };

  it('says how many there are, how many succeed with the interval, and how many leak', () => {
    expect(headline(counts, english)).toBe('1,204 · 41 % success (38–44 %) · 0.6 % leaked');
  });

  it('leaves out what nothing is known of', () => {
    expect(headline({ ...counts, total: 3, leaked: 0, tasks: 0, successRate: null }, english)).toBe(
      '3 · 0 % leaked',
    );
    expect(headline({ ...counts, total: 0 }, english)).toBe('');
  });

  it('gives no interval of fewer than twenty tasks', () => {
    expect(headline({ ...counts, total: 3, leaked: 0, tasks: 3, successRate: 0 }, english)).toBe(
      '3 · 0 % success · 0 % leaked',
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
    expect(mergeWords({ imported: 2, different: [] }, english)).toBe('2 dialogues imported.');
    expect(mergeWords({ imported: 0, different: ['a.jsonl'] }, english)).toBe(
      '0 dialogues imported. Files of the log that were changed by an erasure, here or there, stay as they are here: a.jsonl.',
    );
  });
});
