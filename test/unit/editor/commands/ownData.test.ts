import { describe, expect, it, vi } from 'vitest';
import { erasedWords, whatGoes } from '../../../../src/editor/commands/ownData';
import { english } from '../translate';

vi.mock('vscode', () => import('../vscode'));

const none = { runs: [], experiments: [], exports: [] };

describe('a deletion from several data folders', () => {
  it('says before it what goes, by folder', () => {
    const alpha = { name: 'alpha', dialogues: 3, made: { ...none, runs: ['r1'], exports: ['rows.jsonl'] } };
    const beta = { name: 'beta', dialogues: 1, made: { ...none, experiments: ['loops/full'] } };
    const text = whatGoes([alpha, beta], english);
    expect(text).toMatch(/^4 dialogues \(alpha: 3 dialogues, beta: 1 dialogue\) played under this pseudonym/);
    expect(text).toContain('Runs that were trained with them, and their models: r1.');
    expect(text).toContain('Exported files in the data folder: rows.jsonl.');
    expect(text).toContain('Not deleted from the logs of these loops and scoreboards: loops/full.');
    expect(whatGoes([{ ...alpha, made: none }], english)).toMatch(
      /^3 dialogues played under this pseudonym(?!.*Runs)/s,
    );
  });

  it('says after it what is gone from where', () => {
    const alpha = { place: '/w/alpha', episodes: 3, lines: 40, ...none, runs: ['r1', 'r2'] };
    const beta = { place: '/w/beta', episodes: 1, lines: 9, ...none, experiments: ['loops/full'] };
    expect(erasedWords('kim', [alpha, beta], english)).toBe(
      'All data of kim has been deleted from /w/alpha: 3 dialogues, runs: 2; /w/beta: 1 dialogue, loops/full.',
    );
  });
});
