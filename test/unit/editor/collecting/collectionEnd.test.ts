import { expect, it, vi } from 'vitest';
import { endingWords, progressWords, type EndedCollection } from '../../../../src/editor/collecting/collect';

vi.mock('vscode', () => import('../vscode'));

const whole: EndedCollection = {
  ...{ collection: 'collection-1', total: 120, done: 120, already: 0, failed: 0, inFlight: 0 },
  ...{ graded: 120, solved: 29, isCancelled: false },
};
const part = { ...whole, done: 48, graded: 48, solved: 13 };

it.each<[EndedCollection, { graded: number; successes: number } | undefined, RegExp]>([
  [whole, undefined, /^Parcels: 120 .* 29 of 120 solved\.$/],
  [whole, { graded: 120, successes: 29 }, /^(?!.*before)/],
  [{ ...whole, graded: 0, solved: 0 }, undefined, /^Parcels: 120 dialogues played\.$/],
  [
    { ...whole, already: 20, graded: 100 },
    { graded: 120, successes: 33 },
    /: 100 .* 29 of 100 .* earlier ones: 33 of 120 /,
  ],
  [{ ...whole, already: 120, graded: 0 }, undefined, /already played/],
  [{ ...part, isCancelled: true }, undefined, /48 of 120 .* 13 of 48 .* canceled/],
  [
    { ...part, failed: 72, failure: '72 failed: Out of credit.' },
    undefined,
    /48 of 120 .* 72 failed: Out of credit\.$/,
  ],
])('says how a collection ended: %j', (ended, both, words) => {
  expect(endingWords(ended, 'Parcels', both)).toMatch(words);
});

it('tells the progress, what is solved so far, and the time left once enough was played', () => {
  expect(progressWords({ ...part, done: 3, graded: 3, solved: 1 }, 5)).toBe('3 of 120 dialogues, 1 solved');
  const some = { ...part, done: 40, graded: 40, solved: 11 };
  expect(progressWords(some, 120)).toBe('40 of 120 dialogues, 11 solved, about 4 min left');
  expect(progressWords({ ...part, done: 60, already: 20, graded: 40, failed: 60 }, 120)).toBe(
    '40 of 100 dialogues, 13 solved, 60 failed',
  );
});
