import { expect, it, vi } from 'vitest';
import type { Run } from '../../../../src/core/training/runs';
import { played, setting } from '../../evaluation/comparison/played';

vi.mock('vscode', () => import('../vscode'));

const { runRows } = await import('../../../../src/editor/runs/runTable');

const startedAt = '2026-11-20T22:00:00.000Z';
const run = (fields: Partial<Run> = {}): Run => ({
  ...{ id: '20261120-215500-k3f9', folder: '/data/runs/20261120-215500-k3f9', name: 'first try' },
  ...{ method: 'sweet-rl', base: '/models/starter', state: 'done', isLive: false, canResume: false },
  ...{ lastLines: [], startedAt, changedAt: '2026-11-20T22:03:20.000Z', process: { pid: 7, host: 'here' } },
  ...fields,
});
const rowOf = (
  one: Run,
  ...result: Parameters<typeof runRows>[1] extends (run: Run) => infer Result ? Result[] : never
) => runRows([one], () => result[0])[0]!;

it('the row of a run says what it is, what it learned from, and how long it took', () => {
  const heldOut = { event: 'evaluation', at: startedAt, stage: 'critic', step: 5, accuracy: 0.75 } as never;
  const row = rowOf(
    run({
      ...{ tags: ['paper'], note: 'Half the rate.' },
      selection: { trajectories: 1800, tasks: 300 } as never,
      progress: { state: 'done', stage: 'export', heldOut, at: startedAt },
    }),
  );
  expect(row).toEqual({
    ...{ id: '20261120-215500-k3f9', name: 'first try', tags: ['paper'], note: 'Half the rate.' },
    ...{ state: 'done', stateLabel: 'done', method: 'SWEET-RL', base: 'starter' },
    ...{ trajectories: 1800, tasks: 300, evaluatedOn: '', pairAccuracy: 0.75 },
    started: startedAt,
    startedLabel: expect.stringMatching(/^2[01] Nov 2026, \d\d:00$/) as unknown,
    ...{ seconds: 200, duration: '3 min 20 s' },
  });
});

it('an evaluated run has its success, and what it gained on its base model, with intervals', () => {
  const [model, start] = [played('trained', [1, 1, 1, 0]), played('starter', [0, 0, 1, 0])];
  const interval = { low: 0.1, high: 0.9 };
  const { evaluatedOn, success, gain } = rowOf(run(), { setting: setting('20'), model, start, interval });
  expect(evaluatedOn).toBe(`${setting('20').title}, ${setting('20').tasks} tasks`);
  expect(success).toEqual({ value: 0.75, interval: model.figures.success!.interval });
  expect(gain).toEqual({ value: 0.5, interval });
  expect(rowOf(run(), { setting: setting('20'), model })).not.toHaveProperty('gain');
});
