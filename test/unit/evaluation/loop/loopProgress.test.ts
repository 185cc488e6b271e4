import { describe, expect, it } from 'vitest';
import { LoopCourse, type Expected } from '../../../../src/core/evaluation/loop/loopProgress';
import type { LoopProgress } from '../../../../src/core/evaluation/loop/plan';

const expected: Expected = { tasks: 2, collect: 60, train: 200, export: 2, evaluate: 50, report: 2 };
const SECOND = 1000;
const working = (stage: LoopProgress['stage'], what: string, now: number, total: number): LoopProgress => ({
  ...{ stage, state: 'working', what, done: now, total },
});
const playing = (now: number, already: number): LoopProgress => ({
  ...{ stage: 'collect', state: 'working', what: 'plays', done: now, total: 1600, already },
});
const begun = (stage: LoopProgress['stage']): LoopProgress => ({ stage, state: 'begun', because: '' });

describe('the course of a loop', () => {
  it('goes by how quick the stage at work is', () => {
    const course = new LoopCourse(expected);
    course.tell(begun('collect'), 0);
    course.tell(playing(400, 0), 30 * SECOND);
    expect(course.all[1]).toMatchObject({ state: 'now', fraction: 0.25, done: 400, total: 1600 });
    expect(course.left(30 * SECOND)).toBe(2 + 90 + 254);
  });

  it('does not take what an earlier call left for quick work', () => {
    const course = new LoopCourse(expected);
    course.tell({ stage: 'tasks', state: 'skipped', said: '', seconds: 2 }, 0);
    course.tell(begun('collect'), 0);
    course.tell(playing(1, 1), 0);
    course.tell(playing(960, 800), 10 * SECOND);
    expect(course.left(10 * SECOND)).toBeCloseTo((10 / 0.1) * 0.4 + 254);
  });

  it('goes forward through the stages of a training, whatever these count', () => {
    const course = new LoopCourse(expected);
    course.tell(begun('train'), 0);
    const fractions = [
      working('train', 'critic', 30, 60),
      working('train', 'critic evaluation', 1, 10),
      working('train', 'candidates sampling', 0, 10),
      working('train', 'policy-2', 10, 10),
    ].map((told) => {
      course.tell(told, SECOND);
      return course.all[2]!.fraction!;
    });
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    expect(fractions[0]).toBeGreaterThan(0.1);
    expect(fractions[3]).toBeLessThan(1);
  });
});
