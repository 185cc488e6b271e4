import { describe, expect, it, vi } from 'vitest';
import type { RunRecord } from '../../../../src/core/evaluation/comparison/experiment';
import { parseEvent } from '../../../../src/core/training/eventFile';
import { RunHistory } from '../../../../src/core/training/history/history';
import type { Run } from '../../../../src/core/training/runs';
import { comparisonView, shownFigure } from '../../../../src/editor/comparison/view';
import { curvesView, type ReadCharts } from '../../../../src/editor/run/charts';
import { played, setting } from '../../evaluation/comparison/played';

vi.mock('vscode', () => import('../vscode'));

const at = '2026-11-20T22:00:00.000Z';

const run = (id: string, fields: Partial<Run> = {}): Run => ({
  ...{ id, folder: `/data/runs/${id}`, name: 'sweet-rl #4', method: 'sweet-rl', base: '/models/starter' },
  ...{ state: 'done', isLive: false, canResume: false, lastLines: [], startedAt: at, changedAt: at },
  ...fields,
});

const event = (fields: object) => parseEvent(JSON.stringify({ version: 1, at, ...fields }))!;

function record(one: Run, events: readonly object[], configuration: unknown = {}): RunRecord {
  const history = new RunHistory();
  for (const one of events) history.add(event(one));
  return { run: one, history, configuration, kept: [] };
}

const step = (stage: string, number: number, fields: object = { loss: 1 }): object => ({
  ...{ event: 'step', stage, step: number, steps: 10 },
  ...fields,
});

const options = {
  calledBy: String,
  dataFolder: '/data',
  restriction: '',
  playing: '',
  pinned: [],
};

describe('runs beside each other', () => {
  it('begin with the last stage that all of them have, and follow what is chosen as far as it is there', () => {
    const both = [step('critic', 1), step('policy', 1)];
    const records = [record(run('a'), [...both, step('policy-2', 1)]), record(run('b'), both)];
    expect(shownFigure(records, {})).toEqual({ stage: 'policy', figure: 'loss' });
    expect(shownFigure(records, { stage: 'policy-2' })).toEqual({ stage: 'policy-2', figure: 'loss' });
    expect(shownFigure(records, { stage: 'gone', figure: 'kl' })).toEqual({
      stage: 'policy',
      figure: 'loss',
    });
  });

  it('are told once, then only the ends of their curves; all of it when others are looked at', () => {
    const steps = [1, 2, 3].map((number) => step('policy', number));
    const records = [record(run('a'), steps), record(run('b'), [])];
    const read: ReadCharts = new Map();
    const training = (of: readonly RunRecord[]) =>
      curvesView(of, { stage: 'policy', figure: 'loss', pinned: [] }, read)?.charts[0]!.curves.map(
        (curve) => [curve.training.from, curve.training.points.length / 5],
      );
    expect(training(records)).toEqual([
      [0, 3],
      [0, 0],
    ]);
    expect(training(records)).toBeUndefined();
    records[0]!.history.add(event(step('policy', 4)));
    records[1]!.history.add(event(step('policy', 1)));
    expect(training(records)).toEqual([
      [2, 2],
      [0, 1],
    ]);
    expect(training(records.slice(0, 1))).toEqual([[0, 4]]);
  });

  it('have the pinned charts that any of them has, with a curve for each run', () => {
    const records = [
      record(run('a'), [step('policy', 1), step('policy', 2, { kl: 0.5 })]),
      record(run('b'), [step('critic', 1)]),
    ];
    const pinned = [
      { stage: 'critic', figure: 'loss' },
      { stage: 'critic', figure: 'kl' },
      { stage: 'policy', figure: 'kl' },
    ] as const;
    const view = comparisonView(records, { stage: 'policy' }, { ...options, pinned });
    expect(view.pinned).toEqual([pinned[0], pinned[2]]);
    const charts = curvesView(records, view, new Map())!.charts;
    expect(charts.map(({ stage, figure }) => `${stage} ${figure}`)).toEqual([
      ...['policy loss', 'critic loss', 'policy kl'],
    ]);
    expect(charts[2]!.curves.map(({ training }) => training.points.length)).toEqual([5, 0]);
  });

  it('say what differs, and which of them cannot be evaluated', () => {
    const progress = {
      state: 'done',
      stage: 'export',
      ended: { stage: 'policy', step: 5, steps: 10 },
      at,
    } as const;
    const view = comparisonView(
      [
        record(run('a', { name: 'a', progress }), [], { critic: { beta: 1 } }),
        record(run('b', { name: 'b', state: 'failed' }), [], {}),
      ],
      {},
      options,
    );
    expect(view.differences!.rows).toMatchObject([
      { name: 'critic.beta', cells: ['1', { sentence: 'default' }] },
    ]);
    expect(view.table.rows.map(({ cells }) => cells[0])).toEqual(['done, ended at step 5 of 10', 'failed']);
    expect(view.runs.map(({ silent }) => silent !== '')).toEqual([true, true]);
  });

  it('show success and tests passed of each run, each in its own column', () => {
    const kept = (success: number) => {
      const model = played('local:m', [success]);
      const testsPassed = { ...model.figures.success!, mean: 0.9 };
      return {
        version: 1 as const,
        at,
        setting: setting('k'),
        model: { ...model, figures: { ...model.figures, testsPassed } },
      };
    };
    const measuredRecords = [0.25, 0.5].map((success, index) => ({
      ...record(run(`r${index}`, { name: `run ${index}` }), []),
      kept: [kept(success)],
    }));
    const records = [...measuredRecords, record(run('r2'), [])];
    const [measured] = comparisonView(records, {}, options).measured;
    const { columns, rows } = measured!.table;
    expect(columns.map(({ name }) => name)).toEqual(['success', 'vs_first', 'tests_passed', 'turns']);
    expect(
      rows.map(({ name, cells: [success, , testsPassed] }) => [name, success, testsPassed]),
    ).toMatchObject([
      ['run 0', { value: 0.25 }, { value: 0.9 }],
      ['run 1', { value: 0.5 }, { value: 0.9 }],
      ['sweet-rl #4', { sentence: 'not evaluated' }, null],
    ]);
    expect(measured!.missing).toEqual([2]);
  });
});
