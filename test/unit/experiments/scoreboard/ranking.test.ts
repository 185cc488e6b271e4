import { expect, it } from 'vitest';
import { rankCorrelation, rankingQuality } from '../../../../experiments/scoreboard/ranking';

it('Spearman’s correlation agrees with a worked example', () => {
  // IQ and hours of television (en.wikipedia.org, Spearman's rank correlation coefficient): −29/165.
  const iq = [86, 97, 99, 100, 101, 103, 106, 110, 112, 113];
  const hours = [2, 20, 28, 27, 50, 29, 7, 17, 6, 12];
  expect(rankCorrelation(iq, hours)).toBeCloseTo(-29 / 165, 10);
});

it('a score that orders as the worth does is perfect, its opposite is not', () => {
  expect(rankingQuality([3, 2, 1, 0], [0.9, 0.5, 0.4, 0.1])).toEqual({ correlation: 1, auc: 1 });
  expect(rankingQuality([0, 1, 2, 3], [0.9, 0.5, 0.4, 0.1])).toEqual({ correlation: -1, auc: 0 });
});

it('the middle one of an odd number is neither good nor bad, and equal worth counts half', () => {
  expect(rankingQuality([3, 2, 1], [0.5, 0, 0.5]).auc).toBe(0.5);
  expect(rankingQuality([4, 3, 2, 1], [1, 0.5, 0.5, 0]).auc).toBe((1 + 1 + 0.5 + 1) / 4);
});
