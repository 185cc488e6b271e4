import path from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import type { NodeView, RunView } from '../../../../webview/run/protocol';
import { rendered } from '../rendered';

vi.mock('@vscode/webview-ui-toolkit', () => import('../toolkit'));
vi.stubGlobal('acquireVsCodeApi', () => ({}));
afterAll(() => void vi.unstubAllGlobals());

// The import is dynamic, because views are another TypeScript program with browser types.
const { clusterNodes } = (await import(path.resolve('webview', 'run/nodes.ts'))) as {
  clusterNodes: (view: Pick<RunView, 'nodes' | 'workers'>) => unknown;
};

const cells = (nodes: readonly NodeView[]): string[] =>
  [
    ...rendered(clusterNodes({ nodes, workers: '1 of 2 workers' })).matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs),
  ].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '').trim());
const node = { host: 'a', state: 'works', stateLabel: 'works', workers: 1, gpus: '' } as const;
const lost = { host: 'b', state: 'lost', stateLabel: 'lost', workers: 0, gpus: '' } as const;

it('a run on one machine has no table of nodes', () => {
  expect(rendered(clusterNodes({ nodes: [], workers: '' }))).toBe('');
});

it('nodes stand with their state and workers, and with GPUs where there are some', () => {
  expect(cells([node, lost])).toEqual(['Node', 'State', 'Workers', 'a', 'works', '1', 'b', 'lost', '0']);
  expect(cells([{ ...node, gpus: '1 × NVIDIA H100' }])).toEqual([
    ...['Node', 'State', 'Workers', 'GPUs'],
    ...['a', 'works', '1', '1 × NVIDIA H100'],
  ]);
});
