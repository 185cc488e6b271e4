import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '../../../../src/core/evaluation/comparison/experiment';
import type { KeptEvaluation } from '../../../../src/core/evaluation/loop/kept';
import { parseEvent } from '../../../../src/core/training/eventFile';
import { RunHistory } from '../../../../src/core/training/history/history';
import type { Run } from '../../../../src/core/training/runs';
import { namesOf } from '../../../../src/editor/runs/names';
import {
  comparisonView,
  curvesView,
  shownFigure,
  type ComparedCurves,
} from '../../../../src/editor/comparison/view';
import { played, setting } from '../../evaluation/comparison/played';
import { temporaryFolder } from '../../../fixtures/log';
import { english } from '../translate';

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
  t: english,
  language: 'en',
  dataFolder: '/data',
  restriction: '',
  playing: '',
  pinned: [],
};

describe('runs beside each other', () => {
  it('are told apart by the ends of their ids when they have one name', () => {
    const names = namesOf([run('20261120-a1b2'), run('20261121-c3d4'), run('x', { name: 'other' })], english);
    expect(names).toEqual(['sweet-rl #4 (a1b2)', 'sweet-rl #4 (c3d4)', 'other']);
  });

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

  it('have a curve each; one without such a figure has an empty one', () => {
    const records = [
      record(run('a'), [step('policy', 1, { loss: 2, kl: 0.5 }), step('policy', 2, { loss: 1, kl: 0.6 })]),
      record(run('b'), [step('policy', 1)]),
    ];
    const view = curvesView(records, { stage: 'policy', figure: 'kl', pinned: [] }, new Map());
    expect(view!.charts[0]!.curves.map(({ training }) => training.points)).toEqual([
      [1, 0, 0.5, 0.5, 0.5, 2, 0, 0.6, 0.6, 0.6],
      [],
    ]);
  });

  it('are told once, then only the ends of their curves; all of it when others are looked at', () => {
    const records = [
      record(
        run('a'),
        [1, 2, 3].map((n) => step('policy', n)),
      ),
      record(run('b'), []),
    ];
    const read: ComparedCurves = new Map();
    const shown = { stage: 'policy', figure: 'loss', pinned: [] } as const;
    const training = (of: readonly RunRecord[], chart = shown) =>
      curvesView(of, chart, read)?.charts.map(({ curves }) => curves.map((one) => one.training));
    expect(training(records)).toMatchObject([[{ from: 0 }, { from: 0, points: [] }]]);
    expect(training(records)).toBeUndefined();
    const [a, b] = records.map(({ history }) => history);
    a!.add(event(step('policy', 4, { loss: 2 })));
    b!.add(event(step('policy', 1, { loss: 3 })));
    expect(training(records)).toEqual([
      [
        { from: 2, points: [3, 0, 1, 1, 1, 4, 0, 2, 2, 2], valuesPerPoint: 1 },
        { from: 0, points: [1, 0, 3, 3, 3], valuesPerPoint: 1 },
      ],
    ]);
    expect(training(records.slice(0, 1))).toMatchObject([[{ from: 0 }]]);
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

  it('say what differs, and why one of them cannot be evaluated', () => {
    const ended = { stage: 'policy', step: 5, steps: 10 };
    const progress = { state: 'done', stage: 'export', ended, at } as const;
    const view = comparisonView(
      [
        record(run('a', { name: 'a', progress }), [], { critic: { beta: 1 } }),
        record(run('b', { name: 'b', state: 'failed' }), [], {}),
      ],
      {},
      options,
    );
    expect(view.differences).toEqual([{ field: 'critic.beta', values: ['1', null] }]);
    expect(view.stage).toBe('');
    expect(view.runs.map(({ stateLabel }) => stateLabel)).toEqual(['done, ended at step 5 of 10', 'failed']);
    expect(view.runs.map(({ silent }) => silent)).toEqual([
      'a cannot play here, because it has no ONNX graph: `tandem onnx` makes one.',
      'b has no model yet that could play.',
    ]);
  });

  it('call what they began with and the simulator by their names', () => {
    const kept: KeptEvaluation = {
      ...{ version: 1, at, setting: { ...setting('k'), simulator: 'openai:helping' } },
      ...{ model: played('local:a/model', [1, 1]), start: played('openai:small', [0, 1]) },
    };
    const names: Readonly<Record<string, string>> = { 'openai:small': 'Lab', 'openai:helping': 'Helper' };
    const calledBy = (name: string): string => names[name] ?? name;
    const records = [{ ...record(run('a', { name: 'a' }), []), kept: [kept] }];
    const [measured] = comparisonView(records, {}, { ...options, calledBy }).measured;
    expect(measured?.rows.map(({ name }) => name).sort()).toEqual(['Lab', 'a']);
    expect(measured?.how).toContain('with Helper');
  });

  it('say of which nobody can tell how it did at its start', async () => {
    const folder = await temporaryFolder();
    await mkdir(path.join(folder, 'model', 'onnx'), { recursive: true });
    const startSilent = (base: string): string =>
      comparisonView([record(run('a', { folder, name: 'a', base }), [])], {}, options).runs[0]!.startSilent;
    expect(startSilent('org/small')).toBe(
      'a is evaluated without its base model: small has no ONNX graph on this machine.',
    );
    expect(startSilent(path.join(folder, 'model'))).toBe('');
  });
});
