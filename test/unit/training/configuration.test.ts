import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
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
      grpo: { log: '.tandem', simulator: 'rules' },
      seed: 7,
    };
    await writeFile(file, JSON.stringify(given));
    const { forTrainer, selection } = await readConfiguration(file);
    expect(selection).toBeUndefined();
    expect(forTrainer).toEqual({
      model: { base: join(folder, 'models/tiny'), chat_template: join(folder, 't.jinja'), training: 'full' },
      data: { trajectories: [join(folder, 'rows.jsonl')], preferences: ['/abs.jsonl'], held_out: 0.5 },
      grpo: { log: join(folder, '.tandem'), simulator: 'rules' },
      seed: 7,
    });
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
    [[], 'the file must hold an object, not [].'],
    [{}, 'model is missing.'],
    [{ filter: {} }, 'data.filter chooses from a log; add data.log, the data folder, or take it out.'],
    [{ log: 7 }, 'data.log must be text that is not empty, not 7.'],
    [{ log: '' }, 'data.log must be text that is not empty, not "".'],
    [{ log: 'x', filter: { agnet: 'a' } }, 'data.filter has no field "agnet"; the nearest is "agent".'],
    [
      { log: 'x', filter: { since: '2026-02-30' } },
      'data.filter.since must be a date (2026-03-01) or a time with its offset (2026-03-01T12:00:00Z), not "2026-02-30".',
    ],
    [
      { log: 'x', filter: { stars: 6 } },
      'data.filter.stars must be a whole number of at least 0 and at most 5, not 6.',
    ],
    [
      { log: 'x', minimum_reward: 2 },
      'data.minimum_reward must be a number of at least 0 and at most 1, not 2.',
    ],
    [{ log: 'x', exclude_models: [7] }, 'data.exclude_models[0] must be text, not 7.'],
  ])('that is %j is refused with one sentence', async (value, sentence) => {
    const whole = Array.isArray(value) || Object.keys(value).length === 0 ? value : { data: value };
    const given = 'data' in whole ? { model: { base: 'a/b' }, ...whole } : whole;
    await expect(parse(given)).rejects.toThrow(`mine.json: ${sentence}`);
  });

  it('is refused with the sentences of the trainer', async () => {
    const refusals = z
      .array(z.tuple([z.record(z.string(), z.unknown()), z.string()]))
      .parse(JSON.parse(await readFile('trainer/tests/refusals.json', 'utf8')));
    expect(refusals.length).toBeGreaterThan(20);
    const sound = { model: { base: 'base' }, data: { trajectories: ['rows.jsonl'] } };
    for (const [changes, sentence] of refusals)
      await expect(parse({ ...sound, ...changes })).rejects.toThrow(`mine.json: ${sentence}`);
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
