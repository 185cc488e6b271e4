import { describe, expect, it, vi } from 'vitest';
import type { Lesson } from '../../../../src/core/evaluation/loop/lesson';
import { sizesFor } from '../../../../src/core/evaluation/loop/settings';
import type { TrainedComparisons } from '../../../../src/core/evaluation/loop/comparison';
import { teachingView, type LessonContext } from '../../../../src/editor/teaching/view';

vi.mock('vscode', () => import('../vscode'));

const around: LessonContext = {
  agent: 'starter',
  world: 'functions',
  worlds: ['functions', 'pages'],
  settings: sizesFor('functions', 500_000),
  secondsFor: () => 400,
  ...{ restriction: '', fault: '' },
};

const lesson: Lesson = {
  ...{
    number: 1,
    folder: '/data/teaching/1',
    agent: 'starter',
    world: 'functions',
    seed: 0,
    size: 'standard',
    isWanted: true,
  },
};

describe('the page of a lesson', () => {
  it('says before the start what is done and how long it takes', () => {
    const view = teachingView({ state: 'none', stages: [] }, around);
    const standard = view.sizes[1]!;
    expect(standard.stages.map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'waiting'));
    expect(standard.detail).toMatch(/^1,200 tasks, 1,200 dialogues\. About 7 min/);
    expect(view.isRefused).toBe(false);
  });

  it('names the method that teaches this agent', () => {
    const training = (parameters: number): string | undefined =>
      teachingView({ state: 'none', stages: [] }, { ...around, settings: sizesFor('functions', parameters) })
        .sizes[1]!.stages[2]!.detail;
    expect(training(500_000)).toMatch(/distillation/);
    expect(training(600_000_000)).toMatch(/SWEET-RL/);
  });

  it('shows how far the step at work is, and what is left', () => {
    const stages = [
      { name: 'tasks', state: 'done' },
      { name: 'collect', state: 'now', what: 'plays', done: 309, total: 1200, fraction: 0.2575 },
    ] as const;
    const view = teachingView({ state: 'working', lesson, stages, secondsLeft: 42 }, around);
    expect(view.stages.map(({ state }) => state)).toEqual(['done', 'now', 'waiting', 'waiting']);
    expect(view.stages[1]).toMatchObject({ count: '309 of 1,200 · about 42 s left', fraction: 0.2575 });
    expect(view.title).toBe('Lesson 1');
  });

  it('has the installation as a step of its own, with what has arrived', () => {
    const said = 'downloading torch (539 MB), 412 MB of about 3.1 GB so far';
    const installing = { isDone: false, said, fraction: 0.13 };
    const view = teachingView({ state: 'working', lesson, stages: [], installing }, around);
    expect(view.stages.map(({ state }) => state)).toEqual([
      'now',
      'waiting',
      'waiting',
      'waiting',
      'waiting',
    ]);
    expect(view.stages[0]).toMatchObject({ count: said, fraction: 0.13 });
    const before = teachingView(
      { state: 'none', stages: [], installing: { isDone: false, said: '' } },
      around,
    );
    expect(before.sizes[0]!.stages[0]).toMatchObject({ state: 'waiting' });
    expect(before.sizes[0]!.detail).toMatch(/7 min, after the installation\./);
  });

  it('begins nothing in a workspace that is not trusted, and says why', () => {
    const restricted = { ...around, restriction: 'Not here.' };
    const view = teachingView({ state: 'none', stages: [] }, restricted);
    expect(view).toMatchObject({ sentence: 'Not here.', isRefused: true });
  });
});

const rate = (mean: number): { mean: number; interval: { low: number; high: number } } => ({
  mean,
  interval: { low: mean - 0.05, high: mean + 0.05 },
});

function ended(low: number, high: number, again?: number): ReturnType<typeof teachingView> {
  const success = { difference: (low + high) / 2, interval: { low, high }, p: 0.01, tasks: 200 };
  const one = { before: { success: rate(0.3) }, after: { success: rate(0.3 + success.difference) }, success };
  const unlearned = { difference: again, interval: { low: again! - 0.02, high: again! + 0.02 }, tasks: 100 };
  const earlier = [{ ...one, title: 'first', success: unlearned }];
  const comparisons = {
    ...{ sampled: one, greedy: one },
    ...(again !== undefined && { earlier }),
  } as unknown as TrainedComparisons;
  const over = { ...lesson, isWanted: false, outcome: { run: 'a', report: '/report.md', comparisons } };
  return teachingView({ state: 'done', lesson: over, stages: [], run: 'a' }, around);
}

describe('the outcome of a lesson', () => {
  it('is success before and after, with the interval of the difference', () => {
    const { outcome } = ended(0.1, 0.2);
    expect(outcome!.sentence).toMatch(/ 30 % → 45 % on 200 .* \+15 points .* \+10 to \+20\)\.$/);
    expect(outcome!.measured.rows.map(({ cells: [success] }) => success)).toMatchObject(
      [0.3, 0.45, 0.3, 0.45].map((value) => ({ value })),
    );
  });

  it('says where tasks of an earlier lesson were unlearned', () => {
    const [line] = ended(0.1, 0.2, -0.12).outcome!.unlearned;
    expect(line).toMatch(/an earlier lesson: success on 100 of its tasks fell by 12 points/);
    expect(ended(0.1, 0.2, -0.01).outcome!.unlearned).toEqual([]);
  });
});
