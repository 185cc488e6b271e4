import path from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import type { RunView } from '../../../webview/run/protocol';
import { rendered } from './rendered';

vi.mock('@vscode/webview-ui-toolkit', () => import('./toolkit'));
vi.stubGlobal('acquireVsCodeApi', () => ({}));
afterAll(() => void vi.unstubAllGlobals());

// The import is dynamic, because views are another TypeScript program with browser types.
const { outcome } = (await import(path.resolve('webview', 'run/outcome.ts'))) as {
  outcome: (view: Partial<RunView>) => unknown;
};

const offered = (view: Partial<RunView>): string[] => {
  const done = { sentence: 'The trained model is ready.', lastLines: [], restriction: '' };
  const html = rendered(outcome({ ...done, isLive: false, canResume: false, ...view }));
  return ['Play with it', 'Evaluate…', 'Compare', 'Use in chat'].filter((label) => html.includes(label));
};

it.each([
  [
    'that can play is played with, evaluated, compared and used in the chat',
    { result: 'playable' as const },
    4,
  ],
  ['that cannot play here is compared', { result: 'model' as const }, 1],
  ['that there is none of is offered nowhere', { result: 'none' as const }, 0],
  [
    'in a workspace that is not trusted is not offered',
    { result: 'playable' as const, restriction: 'No.' },
    0,
  ],
])('a model %s', (_, view, count) => {
  expect(offered(view)).toHaveLength(count);
});
