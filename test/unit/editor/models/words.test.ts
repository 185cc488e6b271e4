import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LocalFolder } from '../../../../src/core/model/local/folder';
import type { LocalState } from '../../../../src/editor/models/loaded';
import { type LocalPlace } from '../../../../src/editor/models/places';
import { modelDetails, modelWords, spokenModel, type ModelRow } from '../../../../src/editor/models/words';
import { english } from '../translate';

/** Any existing folder. */
const starter = import.meta.dirname;

const files: LocalFolder = {
  folder: starter,
  graph: path.join(starter, 'onnx', 'model.onnx'),
  precision: 'int8',
  architecture: 'LlamaForCausalLM',
  parameters: 620_000,
  bytes: 720_000,
  contextLength: 512,
  fingerprint: 'abc',
};
const ready = { kind: 'ready', provider: 'cpu', notes: [], processId: 7 } as const;
const row = (state: LocalState, some: Partial<ModelRow> = {}): ModelRow => ({
  roles: [],
  state,
  files,
  ...some,
});

describe('a row of the models view', () => {
  it('tells who plays, how big, how exact, how it is and how fast', () => {
    expect(modelWords(row({ kind: 'not-loaded' }), english)).toBe('not loaded · 0.7 MB · int8');
    expect(modelWords(row({ kind: 'loading' }, { roles: ['agent'] }), english)).toBe(
      'agent · loading… · 0.7 MB · int8',
    );
    expect(modelWords(row(ready, { tokensPerSecond: 1234.5 }), english)).toBe(
      '1,235 tokens/s · 0.7 MB · int8 · cpu',
    );
    expect(modelWords(row(ready), english)).toBe('ready · 0.7 MB · int8 · cpu');
  });

  it('of a model that failed gives the reason, in the row and on hover', () => {
    const reason = 'There is no model folder /models/qwen.';
    const failed: ModelRow = { roles: ['agent'], state: { kind: 'failed', reason } };
    expect(modelWords(failed, english)).toBe(`agent · failed: ${reason}`);
    const place: LocalPlace = {
      spec: 'local:/models/qwen',
      folder: '/models/qwen',
      name: 'qwen',
      from: 'list',
    };
    expect(modelDetails(place, failed, english)).toEqual([reason, '/models/qwen']);
  });

  it('is heard with its units', () => {
    expect(spokenModel('starter', row(ready, { roles: ['agent'], tokensPerSecond: 612 }), english)).toBe(
      'starter, agent, ready, 612 tokens per second, 0.7 megabytes, int8, cpu',
    );
  });

  it('has on hover what the model is made of, and what it could not be run on', () => {
    const place: LocalPlace = { spec: 'starter', folder: starter, name: 'starter', from: 'tandem' };
    const noted = { ...ready, notes: ['webgpu does not work here: no adapter.'] };
    expect(modelDetails(place, row(noted, { tokensPerSecond: 612 }), english)).toEqual([
      'LlamaForCausalLM, 0.62 million parameters, int8, 0.7 MB',
      'At most 512 tokens in a dialogue',
      '612 tokens/s when it last wrote',
      'Runs on cpu, in process 7',
      'webgpu does not work here: no adapter.',
      starter,
    ]);
  });
});
