import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasGraph, isOf, precisionOf, putInPlace } from '../../../../src/core/evaluation/loop/export';
import { temporaryFolder } from '../../../fixtures/log';

async function modelWith(...graphs: readonly string[]): Promise<string> {
  const folder = await temporaryFolder();
  const size = { vocab_size: 8, hidden_size: 8, intermediate_size: 8, max_position_embeddings: 8 };
  const layers = { num_hidden_layers: 1, num_attention_heads: 1 };
  const config = { ...size, ...layers, architectures: ['LlamaForCausalLM'] };
  await mkdir(path.join(folder, 'onnx'));
  await writeFile(path.join(folder, 'config.json'), JSON.stringify(config));
  for (const name of ['tokenizer.json', 'tokenizer_config.json', ...graphs.map((graph) => `onnx/${graph}`)]) {
    await writeFile(path.join(folder, name), '{}');
  }
  return folder;
}

describe('the precision of the trained model', () => {
  it('is that of the graph from which the agent plays, also when a person names it', async () => {
    const folder = await modelWith('model.onnx', 'model_int8.onnx');
    expect(precisionOf(folder)).toBe('fp32');
    expect(precisionOf(path.join(folder, 'onnx', 'model_int8.onnx'))).toBe('int8');
    expect(precisionOf(await modelWith('model_q4.onnx'))).toBe('int4');
  });
});

describe('the model that is put in place', () => {
  it('is known as that of its run, in place of an earlier one', async () => {
    const place = path.join(await temporaryFolder(), 'model');
    await putInPlace({ run: 'first', model: await modelWith('model_int8.onnx') }, place);
    expect([await isOf('first', place), await hasGraph(place, 'int8')]).toEqual([true, true]);
    await putInPlace({ run: 'second', model: await modelWith('model.onnx') }, place);
    expect([await isOf('first', place), await isOf('second', place)]).toEqual([false, true]);
    expect([await hasGraph(place, 'int8'), await hasGraph(place, 'fp32')]).toEqual([false, true]);
  });
});
