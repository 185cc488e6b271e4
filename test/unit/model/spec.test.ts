import { afterEach, expect, test, vi } from 'vitest';
import { OpenAiModel } from '../../../src/core/model/openai';
import { openAgent, openModel } from '../../../src/core/model/spec';

afterEach(() => vi.unstubAllEnvs());

function served(spec: string): OpenAiModel {
  const model = openModel(spec);
  if (!(model instanceof OpenAiModel)) throw new Error(`${spec} opened a ${model.constructor.name}`);
  return model;
}

test.each([
  ['openai:tiny@http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000/v1'],
  ['openai:meta-llama/Llama-3.2-1B@main@https://models.example/v1/', 'https://models.example/v1'],
  ['openai:llama3:8b@http://localhost:11434/v1', 'http://localhost:11434/v1'],
])('%s is a model at %s', (spec, server) => {
  const model = served(spec);
  expect(model.server).toBe(server);
  expect(model.name).toBe(spec);
});

test('without an address the environment names the server', () => {
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9000/v1');
  vi.stubEnv('OPENAI_API_KEY', '');
  const model = served('openai:org/model@v2');
  expect(model.server).toBe('http://127.0.0.1:9000/v1');
  expect(model.name).toBe('openai:org/model@v2');
});

test("OpenAI's own server needs a key before anything is sent", () => {
  vi.stubEnv('OPENAI_BASE_URL', '');
  vi.stubEnv('OPENAI_API_KEY', '');
  expect(() => openModel('openai:gpt-4o')).toThrow('needs a key. Set OPENAI_API_KEY');
  expect(openModel('openai:gpt-4o', { keyOf: () => 'key' })).toBeInstanceOf(OpenAiModel);
});

test.each([
  ['gpt-4o', 'local:<folder> for one of your own'],
  ['ollama:llama3', 'script:<file>'],
  ['local:', 'is not a model that can play here'],
  ['local:no-such-folder', 'There is no model folder'],
  ['starter', 'The starter model is not part of this program.'],
  ['openai:', 'is not a model that can play here'],
  ['script:', 'is not a model that can play here'],
  ['', 'is not a model that can play here'],
  ['rules', 'The rules can only play the simulator.'],
  ['refine:starter', 'A refining agent plays the agent'],
  ['guided:starter', 'play only in tandem evaluate and tandem collect'],
  ['openai:@http://127.0.0.1/v1', 'Write openai:<model>@http://127.0.0.1/v1'],
  ['openai:tiny@http://', 'is not the address of a server'],
  ['openai:tiny@http://name:word@127.0.0.1/v1', 'must not contain a name or password'],
])('%s is refused with a sentence that says what to write', (spec, part) => {
  expect(() => openModel(spec, { keyOf: () => '' })).toThrow(part);
});

test.each([
  ['guided:openai:m@http://127.0.0.1/v1', 'needs a model on this machine'],
  ['guided:starter,eta=-1', 'has the eta "-1", which must be a number from 0'],
  ['guided:starter,n=4', 'has no setting n'],
  ['guided:', 'needs a model on this machine'],
])('the teacher %s is refused with a sentence that says what to write', (spec, part) => {
  expect(() => openAgent(spec, { shipped: 'media' })).toThrow(part);
  expect(() => openAgent(spec, { shipped: 'media' })).toThrow(
    'Write guided:starter or guided:local:<folder>',
  );
});
