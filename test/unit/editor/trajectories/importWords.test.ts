import { expect, it, vi } from 'vitest';
import { importChanges, importWords, mergeWords } from '../../../../src/editor/trajectories/importing';
import { english } from '../translate';

vi.mock('vscode', () => import('../vscode'));

it('an import names the first bad line, the files that differ, and how many dialogues are hidden', () => {
  const bad = [7, 9].map((line) => ({ file: 'rows.jsonl', line, reason: 'The line is not JSON.' }));
  expect(importWords({ imported: 1, alreadyThere: 3, bad }, english)).toMatch(
    /^1 .* 3 .* 2\. Line 7: The line/,
  );
  const merged = mergeWords({ imported: 10, deleted: 2, different: ['a.jsonl'] }, english);
  expect(merged).toMatch(/^10 .*a\.jsonl/);
  expect(merged).toContain('hidden here too: 2.');
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
