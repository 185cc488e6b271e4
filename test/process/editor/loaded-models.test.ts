import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { LocalModel } from '../../../src/core/model/local/model';
import { isRunning } from '../../../src/core/trajectory/heartbeat';
import { LoadedModels } from '../../../src/editor/loadedModels';
import type { LocalPlace } from '../../../src/editor/localModels';
import { eventually } from '../../fixtures/eventually';
import { holdInference } from '../../fixtures/held-model';

const starter: LocalPlace = {
  spec: 'starter',
  folder: path.resolve('dist/starter'),
  name: 'starter',
  from: 'tandem',
};
const question = [{ role: 'user', content: 'I need the fare of a taxi.' }] as const;
const sampling = { temperature: 1, maxTokens: 60, seed: 1 };

let inference: string;
let opened: LocalModel[];
let reported: unknown[];
let models: LoadedModels;

beforeEach(() => {
  inference = path.resolve('dist/inference.js');
  opened = [];
  reported = [];
  models = new LoadedModels(
    ({ spec, folder }) =>
      Promise.resolve().then(() => {
        const model = new LocalModel({ name: spec, folder, inference });
        opened.push(model);
        return model;
      }),
    () => undefined,
    (error) => reported.push(error),
  );
});
afterEach(() => models.close());

const stateOf = async ({ folder }: LocalPlace): Promise<string> => (await models.look(folder)).state.kind;

it('loads a model when it is asked for, once for all who ask', async () => {
  expect(await stateOf(starter)).toBe('not-loaded');
  const agent = models.model(starter);
  models.model(starter);
  expect(await stateOf(starter)).toMatch(/^(loading|ready)$/);
  await eventually(async () => expect(await stateOf(starter)).toBe('ready'));
  const { usage } = await agent.generate(question, sampling);
  expect(usage?.completionTokens).toBeGreaterThan(0);
  await eventually(async () =>
    expect((await models.look(starter.folder)).tokensPerSecond).toBeGreaterThan(0),
  );
  expect(opened).toHaveLength(1);
});

it('closes a model that the settings name no more, after the message that it is writing', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-held-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { script, goOn } = holdInference(folder);
  inference = script;
  const begun = Promise.withResolvers<undefined>();
  const writing = models.model(starter).generate(question, sampling, {
    onText: () => begun.resolve(undefined),
  });
  await begun.promise;
  const { processId } = opened[0]!;
  await models.keep([]);
  expect(isRunning(processId!)).toBe(true);
  goOn();
  expect((await writing).text).toBeTypeOf('string');
  await eventually(() => expect(isRunning(processId!)).toBe(false));
  expect(await stateOf(starter)).toBe('not-loaded');
});

it('starts nothing again when it is closed in the middle of a message', async () => {
  const writing = models.model(starter).generate(question, { ...sampling, maxTokens: 400 });
  const outcome = writing.then(
    () => 'written',
    () => 'broken off',
  );
  await eventually(async () => expect(await stateOf(starter)).toBe('ready'));
  await models.close();
  expect(await outcome).toMatch(/written|broken off/);
  expect(opened[0]?.processId).toBeUndefined();
  expect(opened).toHaveLength(1);
});

it('says why a model cannot be loaded, and loads it once that is mended', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-model-'));
  const mine: LocalPlace = { spec: `local:${folder}`, folder, name: 'mine', from: 'list' };
  try {
    await expect(models.model(mine).generate(question, sampling)).rejects.toThrow('has no config.json');
    const { state } = await models.look(folder);
    expect(state).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('no config.json') as string,
    });
    await cp(starter.folder, folder, { recursive: true });
    await models.lookAgain();
    expect(await stateOf(mine)).toBe('not-loaded');
    await models.model(mine).generate(question, sampling);
    await eventually(async () => expect(await stateOf(mine)).toBe('ready'));

    await writeFile(path.join(folder, 'generation_config.json'), '{}');
    await models.lookAgain();
    expect(await stateOf(mine), 'A model that was trained again is still the old one.').toBe('not-loaded');
  } finally {
    await models.close();
    await rm(folder, { recursive: true });
  }
});
