import path from 'node:path';
import { expect, it, vi } from 'vitest';
import type { LocalFolder } from '../../../../src/core/model/local/folder';
import { servedDetails, servedWords, modelWords, useDocument } from '../../../../src/editor/models/words';
import { specOf } from '../../../../src/editor/servers';

vi.mock('vscode', () => import('../vscode'));

const qwen = { name: 'Lab', baseUrl: 'http://127.0.0.1:8000/v1', model: 'qwen3' };
const priced = { ...qwen, price: { prompt: 0.15, completion: 0.6 } };
const use = { turns: 12, replies: 1, promptTokens: 30_000, completionTokens: 4_100, uncounted: 0 };

/** Any existing folder. */
const starter = import.meta.dirname;
const files: LocalFolder = {
  ...{ folder: starter, graph: path.join(starter, 'onnx', 'model.onnx'), precision: 'int8' },
  ...{ architecture: 'LlamaForCausalLM', parameters: 620_000, bytes: 720_000, contextLength: 512 },
  fingerprint: 'abc',
};

it('the row of a local model tells who plays, how big, how exact, how it is and how fast', () => {
  const ready = { kind: 'ready', provider: 'cpu', notes: [], processId: 7 } as const;
  expect(modelWords({ roles: [], state: ready, files, tokensPerSecond: 1234.5 })).toBe(
    '1,235 tokens/s · 0.7 MB · int8 · cpu',
  );
  expect(modelWords({ roles: ['agent'], state: { kind: 'loading' }, files })).toBe(
    'agent · loading… · 0.7 MB · int8',
  );
});

it('a connected model tells who plays, how it is, where it is and what it has cost', () => {
  const works = { roles: ['agent'], state: { kind: 'works', notes: ['No logprobs.'] } } as const;
  expect(servedWords(priced, works, use)).toBe(
    'agent · works · qwen3 at 127.0.0.1:8000 · 12 turns · 1 reply · 34,100 tokens · $0.00696',
  );
  expect(servedDetails(priced, works, use)).toContain('No logprobs.');
  const failed = { roles: [], state: { kind: 'fails', why: 'Nothing listens there.' } } as const;
  expect(servedDetails(qwen, failed, undefined)[0]).toBe('Nothing listens there.');
});

it('the document of use has a row for each model, the most used first, and says what is not known', () => {
  const text = useDocument(
    {
      'script:a|b.json': { turns: 1, replies: 0, promptTokens: 0, completionTokens: 0, uncounted: 1 },
      [specOf(priced)]: use,
      'openai:other@http://127.0.0.1:1/v1': { ...use, turns: 2 },
    },
    [priced],
    { calledBy: (name) => (name === specOf(priced) ? priced.name : name) },
  );
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  expect(new Set(rows.map(({ length }) => length)).size).toBe(1);
  const cells = rows.map((line) => line.replaceAll(/ +/g, ' '));
  expect(cells[2]).toBe(
    '| Lab (openai:qwen3@http://127.0.0.1:8000/v1) | 12 | 1 | 30,000 | 4,100 | $0.00696 |',
  );
  expect(cells[4]).toBe('| script:a\\|b.json | 1 | 0 | – | – | – |');
  expect(text).toContain('Models without a price: 1.');
});
