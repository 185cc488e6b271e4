import { describe, expect, it } from 'vitest';
import { gainCorrelation, spearman } from '../../../src/core/evaluation/agreement';

const row = (credits: readonly number[], gains: readonly number[]) => ({
  turns: credits.map((advantage, turn) => ({
    ...{ turn, tokens: 1, advantage, untrained: null, gain: gains[turn] },
  })),
});

describe('Spearman’s rank correlation', () => {
  it('gives ties their mean rank', () => {
    expect(spearman([0.1, 0.2, 0.9], [1, 2, 3])).toBeCloseTo(1);
    // Ranks 2 1 3 against 1 2 3: 1 − 6 · (1 + 1) / (3 · 8).
    expect(spearman([0.2, 0.1, 0.9], [1, 2, 3])).toBeCloseTo(0.5);
    // Ranks 1.5 1.5 3 against 1 2 3: 1.5 / √(1.5 · 2).
    expect(spearman([1, 1, 2], [1, 2, 3])).toBeCloseTo(Math.sqrt(3) / 2);
    expect(spearman([1, 1], [1, 2])).toBeUndefined();
  });
});

describe('The correlation of credits and gains', () => {
  it('is the mean over dialogues in which both vary, with an interval', () => {
    const rows = [
      ...Array.from({ length: 3 }, () => row([0.1, 0.2, 0.9], [0, 0.1, 0.2])),
      ...Array.from({ length: 3 }, () => row([0.2, 0.1, 0.9], [0, 0.1, 0.2])),
      row([0.3, 0.3], [0, 1]),
    ];
    const found = gainCorrelation(rows, 'advantage')!;
    expect(found).toMatchObject({ dialogues: 6, mean: 0.75 });
    // s² = 6 · 0.25² / 5, and 1.96 · √(s² / 6) = 0.219.
    expect(found.interval!.low).toBeCloseTo(0.531, 3);
    expect(found.interval!.high).toBeCloseTo(0.969, 3);
    expect(gainCorrelation(rows, 'untrained')).toBeUndefined();
    expect(gainCorrelation([row([1, 2], [])], 'advantage')).toBeUndefined();
  });
});
