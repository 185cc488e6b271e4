import { expect, it, vi } from 'vitest';
import { endingWords, progressWords, type EndedCollection } from '../../../../src/editor/collecting/ending';

vi.mock('vscode', () => import('../vscode'));

const whole: EndedCollection = {
  ...{ collection: 'collection-1', total: 120, done: 120, already: 0, failed: 0, inFlight: 0 },
  ...{ graded: 120, solved: 29, isCancelled: false },
};
const part = { ...whole, done: 48, graded: 48, solved: 13 };

it('says at the end how many dialogues were solved', () => {
  expect(endingWords(whole, 'Parcels')).toBe('Parcels: 120 dialogues played, 29 of 120 solved.');
  expect(endingWords({ ...whole, graded: 0, solved: 0 }, 'Parcels')).toBe('Parcels: 120 dialogues played.');
});

it('tells what was played before apart from what was played now', () => {
  const on = { ...whole, already: 20, graded: 100 };
  expect(endingWords(on, 'Parcels', { graded: 120, successes: 33 })).toBe(
    'Parcels: 100 dialogues played, 29 of 100 solved. With those from before: 33 of 120 solved.',
  );
  expect(endingWords(whole, 'Parcels', { graded: 120, successes: 29 })).not.toContain('before');
  expect(endingWords({ ...whole, already: 120, graded: 0 }, 'Parcels')).toMatch(
    /^These dialogues were already played\./,
  );
});

it('says what was played when the rest was cancelled or failed', () => {
  expect(endingWords({ ...part, isCancelled: true }, 'Parcels')).toBe(
    'Parcels: 48 of 120 dialogues played, 13 of 48 solved. You cancelled the rest.',
  );
  expect(endingWords({ ...part, failed: 72, failure: '72 failed: Out of credit.' }, 'Parcels')).toBe(
    'Parcels: 48 of 120 dialogues played, 13 of 48 solved. 72 failed: Out of credit.',
  );
  expect(endingWords({ ...part, done: 0, graded: 0, isCancelled: true }, 'Parcels')).toBe(
    'Parcels: 0 of 120 dialogues played. You cancelled the rest.',
  );
});

it('tells the progress, what is solved so far, and the time left once enough was played', () => {
  expect(progressWords({ ...part, done: 3, graded: 3, solved: 1 }, 5)).toBe('3 of 120 dialogues, 1 solved');
  expect(progressWords({ ...part, done: 40, graded: 40, solved: 11 }, 120)).toBe(
    '40 of 120 dialogues, 11 solved, about 4 min left',
  );
  expect(progressWords({ ...part, done: 60, already: 20, graded: 40, failed: 60 }, 120)).toBe(
    '40 of 100 dialogues, 13 solved, 60 failed',
  );
});
