import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfiguration, readConfiguration } from '../../../src/core/training/configuration';
import { temporaryFolder } from '../../fixtures/log';

const parse = (value: unknown, folder = '/project') =>
  parseConfiguration(value, { from: 'mine.json', folder });

describe('a configuration', () => {
  it('has its paths made absolute from its own folder, and all else left to the trainer', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'models/tiny'), { recursive: true });
    const file = join(folder, 'mine.json');
    const given = {
      model: { base: 'models/tiny', chat_template: 't.jinja', training: 'full' },
      data: { trajectories: ['rows.jsonl'], preferences: ['/abs.jsonl'], held_out: 0.5 },
      seed: 7,
      something: ['else'],
    };
    await writeFile(file, JSON.stringify(given));
    const { forTrainer, selection } = await readConfiguration(file);
    expect(selection).toBeUndefined();
    expect(forTrainer).toEqual({
      model: { base: join(folder, 'models/tiny'), chat_template: join(folder, 't.jinja'), training: 'full' },
      data: { trajectories: [join(folder, 'rows.jsonl')], preferences: ['/abs.jsonl'], held_out: 0.5 },
      seed: 7,
      something: ['else'],
    });
  });

  it.each([['./tiny'], ['/models/tiny'], ['../tiny']])('names a model folder as %s', async (base) => {
    const { forTrainer } = await parse({ model: { base }, data: {} });
    expect(forTrainer.model).toEqual({ base: resolve('/project', base) });
  });

  it('names a model of the hub as it is', async () => {
    const { forTrainer } = await parse({ model: { base: 'Qwen/Qwen2.5-0.5B' }, data: {} });
    expect(forTrainer.model).toMatchObject({ base: 'Qwen/Qwen2.5-0.5B' });
  });

  it('may take its data from a log; what chooses them does not reach the trainer', async () => {
    const { forTrainer, selection } = await parse({
      model: { base: 'a/b' },
      data: { log: '.tandem', filter: { agent: 'a' }, mode: 'paper', exclude_models: [], held_out: 0.2 },
    });
    expect(selection).toEqual({
      log: '/project/.tandem',
      filter: { agent: 'a' },
      mode: 'paper',
      exclude_models: [],
    });
    expect(forTrainer.data).toEqual({ mode: 'paper', held_out: 0.2 });
  });

  it.each([
    [[], 'mine.json: the file: '],
    [{}, 'mine.json: data: '],
    [{ data: { filter: {} } }, 'data.filter chooses from a log; add data.log'],
    [{ data: { log: 7 } }, 'mine.json: data.log: '],
    [{ data: { log: 'x', filter: { agnet: 'a' } } }, 'data.filter: Unrecognized key: "agnet"'],
    [{ data: { log: 'x', filter: { since: 'yesterday' } } }, 'data.filter.since'],
    [{ data: { log: 'x', minimum_reward: 2 } }, 'data.minimum_reward'],
  ])('that is %j is refused with one sentence', async (value, sentence) => {
    await expect(parse(value)).rejects.toThrow(sentence);
  });

  it.each([
    ['not there', undefined, 'cannot be read'],
    ['not JSON', '{"model":', 'is not JSON'],
  ])('that is %s is refused with one sentence', async (_, text, sentence) => {
    const file = join(await temporaryFolder(), 'mine.json');
    if (text !== undefined) await writeFile(file, text);
    await expect(readConfiguration(file)).rejects.toMatchObject({
      code: 'training/bad-configuration',
      message: expect.stringContaining(sentence) as string,
    });
  });
});
