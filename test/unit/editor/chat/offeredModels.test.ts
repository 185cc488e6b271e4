import { describe, expect, it, vi } from 'vitest';
import { alternating, offeredModels, sameModels, samplingFor } from '../../../../src/editor/chat/provider';
import type { ModelStatus } from '../../../../src/editor/loadedModels';

vi.mock('vscode', () => import('../vscode'));

const files: NonNullable<ModelStatus['files']> = {
  ...{ folder: '/models/a', graph: '/models/a/onnx/model.onnx', precision: 'int8', fingerprint: 'abc' },
  ...{ architecture: 'LlamaForCausalLM', parameters: 1, bytes: 1, contextLength: 512 },
};
const place = { spec: 'starter', folder: '/models/a', name: 'starter', from: 'tandem' } as const;
const server = { name: 'Mine', baseUrl: 'http://127.0.0.1:1/v1', model: 'tiny' };

describe('the models that the editor is offered', () => {
  it('are those that can answer: folders with a model, and servers that have not failed', () => {
    const failed = { kind: 'failed', reason: 'It died.' } as const;
    const offered = offeredModels({
      locals: [
        [place, { state: { kind: 'not-loaded' }, files }],
        [{ ...place, spec: 'local:b' }, { state: failed }],
        [
          { ...place, spec: 'local:c' },
          { state: failed, files },
        ],
      ],
      servers: [
        [server, { kind: 'untested' }],
        [
          { ...server, model: 'gone' },
          { kind: 'fails', why: 'Nothing listens there.' },
        ],
      ],
      maxTokens: 800,
    });
    expect(offered.map(({ id }) => id)).toEqual(['starter', 'openai:tiny@http://127.0.0.1:1/v1']);
    expect(offered[0]).toMatchObject({ version: 'abc', maxInputTokens: 256, maxOutputTokens: 256 });
    expect(offered[1]).toMatchObject({ name: 'Mine', maxOutputTokens: 800 });
    expect(sameModels(offered, [...offered])).toBe(true);
    expect(sameModels(offered, offered.slice(1))).toBe(false);
  });

  it('get a conversation whose sides take turns, and which the user begins', () => {
    expect(
      alternating([
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'Be brief.' },
        { role: 'user', content: 'What is it?' },
        { role: 'assistant', content: ' ' },
        { role: 'assistant', content: 'A cat.' },
      ]),
    ).toEqual([
      { role: 'user', content: 'Be brief.\n\nWhat is it?' },
      { role: 'assistant', content: 'A cat.' },
    ]);
  });

  it('are sampled as the asking extension says, as far as it says something that makes sense', () => {
    const settings = { temperature: 1, maxTokens: 100 };
    expect(
      samplingFor(settings, { temperature: 0, max_tokens: 7.5, top_p: 0.9, top_k: 20, min_p: 0.1, seed: 3 }),
    ).toEqual({
      ...{ temperature: 0, maxTokens: 7, topP: 0.9, topK: 20, minP: 0.1, seed: 3 },
    });
    expect(samplingFor(settings, { temperature: 'hot', max_tokens: -1, top_p: 5 })).toEqual(settings);
  });
});
