import { expect, it } from 'vitest';
import { planInWords, runInFull, runTable } from '../../../src/cli/runWords';
import type { RunResult } from '../../../src/core/evaluation/comparison/measuredRuns';
import type { Run } from '../../../src/core/training/runs';
import { plan } from '../../fixtures/plan';
import { played, setting } from '../evaluation/comparison/played';

it('a plan has a line for each stage, for what it does not fit and for each shortage of data', () => {
  const sentence = 'The critic learns from 2 pairs: a better agent was measured with 300.';
  const shortage = { kind: 'pairs' as const, have: 2, enough: 300, sentence };
  const text = planInWords({
    ...plan,
    advice: ['Set model.training to lora.'],
    data: { ...plan.data, shortages: [shortage] },
  });
  expect(text).toMatch(/^critic {6}1 min 40 s \(measured\)$/m);
  expect(text).toMatch(/^export {6}not known$/m);
  expect(text).toMatch(/^fits {8}yes$/m);
  expect(text).toContain('\nto do       Set model.training to lora.');
  expect(text).toContain(`\nfew data    ${sentence}`);
});

const at = '2026-11-20T22:00:00.000Z';
const run = (id: string): Run => ({
  ...{ id, folder: `/data/runs/${id}`, name: '', method: 'rft', base: 'starter', state: 'done' },
  ...{ isLive: false, canResume: false, lastLines: [], startedAt: at, changedAt: at },
});

it('the table of runs has the success of each that was evaluated, and what it gained with its interval', () => {
  const model = played('trained', [1, 1, 1, 0]);
  const start = played('starter', [0, 1, 0, 0]);
  const results: Readonly<Record<string, RunResult>> = {
    a: { setting: setting('1'), model, start, interval: { low: -0.1, high: 0.9 } },
    b: { setting: setting('1'), model, start, interval: null },
    c: { setting: setting('1'), model },
  };
  const lines = runTable(['a', 'b', 'c', 'd'].map(run), ({ id }) => results[id]).split('\n');
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^a .* 25\.0 % → 75\.0 %, \+50\.0 points \[−10\.0, \+90\.0\] +rft/),
    expect.stringMatching(/^b .* 25\.0 % → 75\.0 %, \+50\.0 points +rft/),
    expect.stringMatching(/^c .* 75\.0 % +rft/),
    expect.stringMatching(/^d +done +rft/),
  ]);
});

it('a run has Ask-F1 before and after where it was measured', () => {
  const result = (value: number) => {
    const { figures, by_task } = played('a', [1]);
    return { figures: { ...figures, askF1: { value } }, by_task };
  };
  const kept = { version: 1 as const, at, setting: setting('1'), model: result(0.625) };
  expect(runInFull(run('a'), [{ ...kept, start: result(0.5) }])).toContain(
    '\nAsk-F1 on mine, 8 tasks, greedy: 0.50 → 0.63.',
  );
  expect(runInFull(run('a'), [{ ...kept, model: played('a', [1]) }])).not.toContain('Ask-F1');
});

it('a run names the habits that were measured to be worse than those of its base model', () => {
  const result = (leakRate: number) => {
    const { figures, by_task } = played('a', [1, 1, 1, 1, 1, 1]);
    return { figures, by_task: by_task.map((one) => ({ ...one, leakRate })) };
  };
  const kept = { version: 1 as const, at, setting: setting('1'), start: result(0) };
  expect(runInFull(run('a'), [{ ...kept, model: result(0) }])).not.toContain('Worse');
  expect(runInFull(run('a'), [{ ...kept, model: result(0.5) }])).toContain(
    '\nWorse than its base model on mine, 8 tasks, greedy, per dialogue: leaks +50.0 points [+50.0, +50.0].',
  );
});
