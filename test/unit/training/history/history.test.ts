import { describe, expect, it } from 'vitest';
import { figureNames, figuresOf, type TrainerEvent } from '../../../../src/core/training/events';
import { parseEvent } from '../../../../src/core/training/eventFile';
import { Curve, MAX_BUCKETS, RunHistory } from '../../../../src/core/training/history/history';

const at = '2026-11-20T22:00:00.000Z';
const event = (kind: string, fields: object): TrainerEvent =>
  parseEvent(JSON.stringify({ version: 1, at, event: kind, ...fields }))!;
const step = (number: number, fields: object = {}): TrainerEvent =>
  event('step', { stage: 'critic', step: number, steps: 100, loss: 1 / number, ...fields });

function curveOf(values: number): Curve {
  const curve = new Curve();
  for (let number = 1; number <= values; number += 1)
    curve.add(number, number % 1000 === 0 ? 99 : 1, number / 10);
  return curve;
}

describe('a curve', () => {
  it('of a hundred thousand steps has at most so many points, all of its values and every peak', () => {
    const curve = curveOf(100_000);
    expect(curve.all.length).toBeLessThanOrEqual(MAX_BUCKETS);
    expect(curve.all.reduce((sum, { count }) => sum + count, 0)).toBe(100_000);
    expect(curve.all.filter(({ high }) => high === 99)).toHaveLength(100);
    expect(curve.all.at(-1)!.to).toBe(100_000);
    expect(curve.last).toBe(99);
    for (const [index, bucket] of curve.all.entries())
      if (index > 0) expect(bucket.from).toBe(curve.all[index - 1]!.to + 1);
  });

  it('tells what is new since somebody read it: its end, and everything after it was thinned out', () => {
    const curve = curveOf(3);
    const { mark } = curve;
    expect(curve.since().from).toBe(0);
    curve.add(4, 7, 0.45);
    expect(curve.since(mark)).toEqual({
      from: 2,
      points: [3, 0.3, 1, 1, 1, 4, 0.45, 7, 7, 7],
      valuesPerPoint: 1,
    });
    const { mark: later } = curve;
    for (let number = 5; number <= MAX_BUCKETS + 1; number += 1) curve.add(number, 1, number / 10);
    expect(curve.since(later).from).toBe(0);
    // A further value in the last point is a change as well.
    const { mark: thinned } = curve;
    curve.add(MAX_BUCKETS + 2, 1, 300);
    expect(curve.mark).not.toEqual(thinned);
  });

  it('counts a step that is told again by a resumed run once, with the later value', () => {
    const curve = new Curve();
    for (const [number, value] of [
      [1, 10],
      [2, 20],
      [3, 30],
      [2, 5],
      [3, 6],
    ] as const)
      curve.add(number, value, 0);
    expect(curve.all.map(({ to, sum }) => [to, sum])).toEqual([
      [1, 10],
      [2, 5],
      [3, 6],
    ]);
  });
});

describe('the history of a run', () => {
  it('keeps a curve of every figure that the trainer declares', () => {
    const history = new RunHistory();
    const values = Object.fromEntries(figureNames.map((name) => [name, 0.5]));
    history.add(step(1, values));
    history.add(event('evaluation', { stage: 'critic', step: 1, ...values }));
    expect(history.figuresOf('critic')).toEqual(figureNames);
    const heldOut = figureNames.filter((name) => history.curves('critic', name)!.heldOut.all.length > 0);
    expect(heldOut).toEqual(figuresOf('evaluation'));
    expect(heldOut).toContain('accuracy');
    expect(heldOut).not.toContain('learning_rate');
  });

  it('gives only the new end of curves that were read before, and all of other ones', () => {
    const history = new RunHistory();
    history.add(step(1, { accuracy: 0.5 }));
    history.add(step(2, { accuracy: 0.25 }));
    expect(history.curvesSince('critic', 'kl')).toBeUndefined();
    const { read, ...first } = history.curvesSince('critic', 'loss')!;
    const nothing = { from: 0, points: [], valuesPerPoint: 1 };
    expect(first).toEqual({
      training: { from: 0, points: [1, 0, 1, 1, 1, 2, 0, 0.5, 0.5, 0.5], valuesPerPoint: 1 },
      heldOut: nothing,
    });
    history.add(step(3, { loss: 4 }));
    expect(history.curvesSince('critic', 'loss', read)!.training).toEqual({
      ...{ from: 1, points: [2, 0, 0.5, 0.5, 0.5, 3, 0, 4, 4, 4], valuesPerPoint: 1 },
    });
    expect(history.curvesSince('critic', 'accuracy', read)!.training.from).toBe(0);
  });

  it('of a long run keeps what its figures come from, whatever else is told', () => {
    const history = new RunHistory();
    const look = (stage: string, number: number, fields: object = {}): void =>
      history.add(event('evaluation', { stage, step: number, accuracy: 0.6, ...fields }));
    look('critic', 10, { accuracy: 0.5 });
    expect(history.bestLook('critic')).toMatchObject({ step: 10 });
    look('critic', 20, { accuracy: 0.7, best: true });
    look('critic', 30);
    const ranking = (stage: string, candidates: number): TrainerEvent =>
      event('ranking', { stage, histories: 5, candidates });
    history.add(ranking('ranking', 30));
    history.add(ranking('ranking', 40));
    for (let number = 1; number <= 100_000; number += 1) {
      history.add(step(number, { stage: 'policy' }));
      if (number % 25 === 0) look('policy', number, { best: number === 50_000 });
    }
    history.add(ranking('ranking-2', 20));
    expect(history.bestLook('critic')).toMatchObject({ step: 20, accuracy: 0.7 });
    expect(history.bestLook('policy')).toMatchObject({ step: 50_000 });
    expect(history.bestLook('export')).toBeUndefined();
    expect(history.rankings.map(({ stage, candidates }) => [stage, candidates])).toEqual([
      ['ranking', 40],
      ['ranking-2', 20],
    ]);
  });
});
