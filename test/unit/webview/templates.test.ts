import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { NodeView, RunView, StageView } from '../../../webview/run/protocol';
import type { SessionState } from '../../../webview/session/protocol';
import { rendered } from './rendered';

vi.mock('@vscode/webview-ui-toolkit', () => import('./toolkit'));
vi.stubGlobal('acquireVsCodeApi', () => ({}));
afterAll(() => void vi.unstubAllGlobals());

// The import is dynamic, because views are another TypeScript program with browser types.
const webview = async (file: string) =>
  (await import(path.resolve('webview', file))) as Record<string, (...views: object[]) => unknown>;
const { announcement, clusterNodes, outcome } = await webview('run/status.ts');
const { numberIn } = (await import(path.resolve('webview', 'report', 'table.ts'))) as Record<
  string,
  (value: number, column: object) => unknown
>;
const { leaving } = await webview('session/footer.ts');

it.each([
  [5.26, '+5.3'],
  [-2, '−2.0'],
  [0.01, '0.0'],
])('a difference of %d words is %s', (value, words) => {
  expect(numberIn!(value, { unit: 'words', digits: 1, isSigned: true })).toBe(words);
});

it.each<[string, Partial<RunView>, number]>([
  ['that can play is played with, evaluated, compared and used in the chat', { result: 'playable' }, 4],
  ['that cannot play here is compared', { result: 'model' }, 1],
  ['that plays the collaborator is played with and compared', { result: 'collaborator' }, 2],
  ['that there is none of is offered nowhere', { result: 'none' }, 0],
  ['in a workspace that is not trusted is not offered', { result: 'playable', restriction: 'No.' }, 0],
])('a model %s', (_, view, count) => {
  const done = { sentence: 'The trained model is ready.', lastLines: [], restriction: '' };
  const html = rendered(outcome!({ ...done, isLive: false, canResume: false, ...view }));
  const offered = ['Play with it', 'Evaluate…', 'Compare', 'Use in chat'].filter((label) =>
    html.includes(label),
  );
  expect(offered).toHaveLength(count);
});

it('a model that was not evaluated is offered for that first', () => {
  const first = (isEvaluated: boolean): string | undefined => {
    const done = { sentence: 'Ready.', lastLines: [], restriction: '', result: 'playable', isEvaluated };
    return /Play with it|Evaluate…/.exec(rendered(outcome!(done)))?.[0];
  };
  expect([false, true].map(first)).toEqual(['Evaluate…', 'Play with it']);
});

it('the nodes of a cluster stand with their state and workers, and with GPUs where there are some', () => {
  const cells = (nodes: readonly NodeView[]): string[] =>
    [...rendered(clusterNodes!({ nodes, workers: '1 of 2 workers' })).matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(
      ([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '').trim(),
    );
  const node = { host: 'a', state: 'works', stateLabel: 'works', workers: 1, gpus: '' } as const;
  expect(cells([node])).toEqual(['works', '1']);
  expect(cells([{ ...node, gpus: '1 × NVIDIA H100' }])).toEqual(['works', '1', '1 × NVIDIA H100']);
  expect(rendered(clusterNodes!({ nodes: [], workers: '' }))).toBe('');
});

it('the way out says what becomes of the answer: a grade, or a change of the own file', () => {
  const shown = (more: Partial<SessionState>): string =>
    JSON.stringify(leaving!({ phase: 'choosing', ...more }));
  expect(shown({})).toContain('grade it');
  expect(shown({ onlyDeveloperKnows: true })).toContain('review the change');
});

describe('what a screen reader is told', () => {
  const stage = (fraction?: number, name = 'critic'): StageView => ({
    ...{ name, label: name, state: 'now', hasCurves: true },
    ...(fraction !== undefined && { fraction }),
  });
  const view = (...stages: StageView[]) =>
    ({ state: 'running', stateLabel: 'running', sentence: '', caution: '', stages }) as const;

  it('is each tenth, each stage and each state', () => {
    expect(announcement!(view(stage(0.39)), view(stage(0.4)))).toBe('critic 40 %');
    expect(announcement!(view(stage(0.9)), view(stage(undefined, 'policy')))).toBe('policy');
    const done = { ...view(), state: 'done', stateLabel: 'done', sentence: 'All is well.' } as const;
    expect(announcement!(view(stage(0.9)), done)).toBe('done. All is well.');
  });
});
