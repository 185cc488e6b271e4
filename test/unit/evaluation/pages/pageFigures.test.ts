import { describe, expect, it } from 'vitest';
import { agentFigures, taskFigures } from '../../../../src/core/evaluation/figures';
import { pageFigures } from '../../../../src/core/evaluation/pages/pageFigures';
import { pairedPages, winRateOf } from '../../../../src/core/evaluation/pages/pairedPages';
import { scored } from './scored';

describe('the scores of pages', () => {
  it('average the dialogues of a task first, and give the gain of each draft on the one before', () => {
    const [figures] = pageFigures(
      [scored('a', [0.25, 0.625]), scored('a', [0.375, 0.375, 0.875]), scored('b', [0.875])],
      'fixed',
    );
    expect(figures).toMatchObject({ measure: 'structure', tasks: 2, dialogues: 3 });
    // (0.625 + 0.875) / 2 and 0.875
    expect(figures!.score).toEqual({ value: 0.8125 });
    // 0.3125 of a and 0.875 of b; (0.375 + 0) / 2; 0.5
    expect(figures!.drafts).toEqual([
      { turn: 1, dialogues: 3, score: { value: 0.59375 } },
      { turn: 2, dialogues: 2, score: { value: 0.5 }, gain: { value: 0.1875 } },
      { turn: 3, dialogues: 1, score: { value: 0.875 }, gain: { value: 0.5 } },
    ]);
  });

  it('have an interval over tasks from six tasks on', () => {
    const scores = [0.4, 0.5, 0.6, 0.4, 0.5, 0.6];
    const [figures] = pageFigures(
      scores.map((score, index) => scored(`t${index}`, [score])),
      'fixed',
    );
    // s = 0.08944, 1.96 s / √6 = 0.07157
    expect(figures!.score.interval!.low).toBeCloseTo(0.42843, 4);
    expect(figures!.score.interval!.high).toBeCloseTo(0.57157, 4);
  });

  it('of two measures, versions or renderers are not mixed', () => {
    const all = [
      scored('a', [0.2]),
      scored('b', [0.4], { renderer: 'another' }),
      scored('c', [0.6], { version: 2 }),
      scored('d', [0.8], { measure: 'clip' }),
      scored('e', [1]),
    ];
    const figures = pageFigures(all, 'fixed');
    expect(figures.map(({ score, tasks }) => [score.value, tasks])).toEqual([
      [0.6, 2],
      [0.4, 1],
      [0.6, 1],
      [0.8, 1],
    ]);
    expect(pageFigures(all, 'paper')).toEqual([]);
  });
});

describe('the figures of an agent', () => {
  it('keep pages apart from functions, which alone have a success', () => {
    const figures = agentFigures(
      'x',
      [
        scored('page', [0.5]),
        scored('function', [], { success: true }),
        scored('broken', [], { success: null }),
      ],
      'fixed',
    );
    expect(figures).toMatchObject({ tasks: 1, success: { mean: 1 }, notGradable: 1 });
    expect(figures.pages).toMatchObject([{ tasks: 1, score: { value: 0.5 } }]);
  });

  it('have no success of pages alone, and count them as graded', () => {
    const figures = agentFigures('x', [scored('page', [0.5])], 'fixed');
    expect(figures).toMatchObject({ tasks: 0, success: null, testsPassed: null, notGradable: 0 });
    expect(taskFigures([scored('page', [0.5])], 'fixed')).toEqual([]);
  });
});

describe('the win rate', () => {
  it('counts ties half, each task alike, with a Wilson interval over tasks', () => {
    const tasks = [
      { first: [0.5], second: [0.7] },
      { first: [0.5], second: [0.5] },
      { first: [0.5], second: [0.1] },
      // One of four pairs is won, one is tied.
      { first: [0.2, 0.9], second: [0.2, 0.8] },
    ];
    const { rate, interval, ties, ...rest } = winRateOf(tasks);
    // (1 + 0.5 + 0 + (0.5 + 0 + 1 + 0) / 4) / 4
    expect(rate).toBeCloseTo(0.46875);
    expect({ ties, ...rest }).toEqual({ tasks: 4, ties: 1 });
    // z² = 3.84146: (0.46875 + 0.48018) / 1.96037 ± 0.99980 √(0.06226 + 0.06002)
    expect(interval.low).toBeCloseTo(0.13445, 4);
    expect(interval.high).toBeCloseTo(0.83367, 4);
  });

  it('compares only tasks of one scale that both played', () => {
    const [paired, ...others] = pairedPages(
      [scored('a', [0.25]), scored('b', [0.25]), scored('c', [0.125], { renderer: 'another' })],
      [scored('a', [0.5]), scored('c', [0.9]), scored('d', [1])],
      'fixed',
      0,
    );
    expect(others).toEqual([]);
    expect(paired).toMatchObject({
      measure: 'structure',
      score: { difference: 0.25, interval: null, tasks: 1 },
      winRate: { rate: 1, tasks: 1, ties: 0 },
    });
  });
});
