import { describe, expect, it } from 'vitest';
import { LoopCourse } from '../../../../src/core/evaluation/loop/loopProgress';
import type { LoopProgress } from '../../../../src/core/evaluation/loop/plan';

const SECOND = 1000;
const working = (stage: LoopProgress['stage'], what: string, now: number, total: number): LoopProgress => ({
  ...{ stage, state: 'working', what, done: now, total },
});
const playing = (now: number, already: number): LoopProgress => ({
  ...{ stage: 'collect', state: 'working', what: 'plays', done: now, total: 1600, already },
});
const begun = (stage: LoopProgress['stage']): LoopProgress => ({ stage, state: 'begun', because: '' });

describe('the course of a loop', () => {
  it('says what is left of the stage at work by its own pace, once a tenth of it is done', () => {
    const course = new LoopCourse();
    course.tell({ stage: 'tasks', state: 'done', said: '', seconds: 300 }, 0);
    course.tell(begun('collect'), 300 * SECOND);
    course.tell(playing(100, 0), 305 * SECOND);
    expect(course.left(305 * SECOND)).toBeUndefined();
    course.tell(playing(400, 0), 330 * SECOND);
    expect(course.all[1]).toMatchObject({ state: 'now', fraction: 0.25, done: 400, total: 1600 });
    expect(course.left(330 * SECOND)).toBe(90);
  });

  it('does not take what an earlier call left for quick work', () => {
    const course = new LoopCourse();
    course.tell({ stage: 'tasks', state: 'skipped', said: '', seconds: 2 }, 0);
    course.tell(begun('collect'), 0);
    course.tell(playing(801, 800), 0);
    expect(course.left(0)).toBeUndefined();
    course.tell(playing(1000, 800), 10 * SECOND);
    expect(course.left(10 * SECOND)).toBeCloseTo((10 / 0.125) * 0.375);
  });

  it('counts down the estimate of the trainer until the next one, also through work without steps', () => {
    const course = new LoopCourse();
    course.tell(begun('train'), 0);
    course.tell(working('train', 'critic', 1, 60), SECOND);
    expect(course.left(SECOND)).toBeUndefined();
    course.tell({ ...working('train', 'critic', 30, 60), secondsLeft: 100 } as LoopProgress, 10 * SECOND);
    course.tell(working('train', 'candidates sampling', 5, 10), 30 * SECOND);
    expect(course.left(30 * SECOND)).toBe(80);
    expect(course.left(110 * SECOND)).toBeUndefined();
  });

  it('goes forward through the stages of a training, whatever these count', () => {
    const course = new LoopCourse();
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
