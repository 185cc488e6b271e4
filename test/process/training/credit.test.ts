import { mkdtempSync } from 'node:fs';
import { appendFile, cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CreditCache } from '../../../src/core/training/credit/cache';
import { computeCredits, type CreditOptions } from '../../../src/core/training/credit/compute';
import { scorable, type Scorable } from '../../../src/core/training/credit/credit';
import { heldOutOf, criticsIn, nameOfFolder, openCritic } from '../../../src/core/training/credit/critics';
import type { LogEvent, NewEvent } from '../../../src/core/trajectory/event';
import { shippedPrompts } from '../../fixtures/dialogue';
import { realTrainer, tinyCritic } from '../../fixtures/trainer';
import {
  agentTurn,
  dialogue,
  doubling,
  foldTrajectory,
  reply,
  temporaryFolder,
  verdict,
} from '../../fixtures/log';

const data = mkdtempSync(path.join(tmpdir(), 'tandem-credit-'));
const run = path.join(data, 'runs', '20261122-100000-abcd');
const critic = path.join(run, 'critic');

beforeAll(async () => {
  await mkdir(run, { recursive: true });
  await writeFile(path.join(run, 'run.json'), JSON.stringify({ name: 'first', model: { base: 'tiny' } }));
  await tinyCritic(run);
});

afterAll(() => rm(data, { recursive: true, force: true }));

async function read(...more: readonly NewEvent[]): Promise<Scorable> {
  const events = [{ event: 'task', task: doubling }, ...dialogue('a', 1), ...more].map((event) => ({
    version: 1,
    at: '2026-11-22T10:00:00.000Z',
    ...event,
  })) as LogEvent[];
  return scorable(foldTrajectory(events)!, await shippedPrompts());
}

const options = (more: Partial<CreditOptions> = {}): CreditOptions => ({
  scoring: path.resolve('dist/scoring.js'),
  trainer: () => Promise.resolve(realTrainer()),
  ...more,
});

describe('a critic', () => {
  it('has from its run how well it did on held-out pairs, and what the untrained score did', async () => {
    expect(await heldOutOf(critic)).toBeUndefined();
    const events = path.join(run, 'events.jsonl');
    const tell = (event: object): Promise<void> =>
      appendFile(events, `${JSON.stringify({ version: 1, at: '2026-11-22T10:00:00Z', ...event })}\n`);
    const measured = { held_out_accuracy: 0.78, held_out_examples: 40 };
    await tell({ event: 'result', stages: { critic: measured } });
    expect(await heldOutOf(critic)).toEqual({ accuracy: 0.78, pairs: 40 });
    const control = { held_out_untrained_accuracy: 0.55 };
    await tell({ event: 'result', stages: { critic: { ...measured, ...control } } });
    await tell({ event: 'state', state: 'done' });
    expect(await heldOutOf(critic)).toEqual({ accuracy: 0.78, pairs: 40, untrained: 0.55 });
    await rm(events);
  });

  it('is found in its run, is itself wherever it lies, and another one when its weights are others', async () => {
    const [found, ...others] = await criticsIn(data);
    expect(found).toMatchObject({ folder: critic, name: 'first', base: 'tiny', method: 'sweet-rl' });
    expect(others).toEqual([]);
    const opened = openCritic(critic);
    expect(opened).toMatchObject({ runner: 'onnx', unit: 'nats-per-token' });
    expect(found).not.toHaveProperty('experiment');
    const copy = path.join(data, 'copy');
    await cp(critic, copy, { recursive: true });
    expect(openCritic(copy).id).toBe(opened.id);
    const weights = (await readdir(copy)).find((name) => name.endsWith('.safetensors'))!;
    await appendFile(path.join(copy, weights), 'x');
    expect(openCritic(copy)).toMatchObject({ runner: 'trainer' });
    expect(openCritic(copy).id).not.toBe(opened.id);
    expect([nameOfFolder(critic), nameOfFolder(copy)]).toEqual([path.basename(run), 'copy']);
    expect(() => openCritic(data)).toThrow(/has no critic\.json/);
  });

  it('is found in loops and scoreboards, at whatever depth their runs are', async () => {
    const folder = await temporaryFolder();
    const loop = path.join('loops', 'quick', 'runs', '20261122-110000-aaaa');
    const board = path.join('scoreboards', 'full', 'again', 'runs', '20261122-120000-bbbb');
    for (const made of [loop, board]) {
      await mkdir(path.join(folder, made, 'critic'), { recursive: true });
      await writeFile(path.join(folder, made, 'run.json'), JSON.stringify({ model: { base: 'tiny' } }));
      await writeFile(path.join(folder, made, 'critic', 'critic.json'), '{}');
    }
    const found = await criticsIn(folder);
    const places = found.map(({ folder: critic, experiment }) => [
      critic,
      experiment?.kind,
      experiment?.name,
    ]);
    expect(places.sort()).toEqual([
      [path.join(folder, loop, 'critic'), 'loops', path.join('loops', 'quick')],
      [path.join(folder, board, 'critic'), 'scoreboards', path.join('scoreboards', 'full')],
    ]);
  });
});

describe('the credit of a dialogue', () => {
  it('is the same by ONNX Runtime and by the trainer, token by token', async () => {
    const opened = openCritic(critic);
    const given = await read();
    const [here] = await computeCredits(opened, [given], options());
    const [there] = await computeCredits({ ...opened, runner: 'trainer' }, [given], options());
    expect(here).toMatchObject({ episode: 'a', critic: opened.id, of: given.of, unit: 'nats-per-token' });
    expect(here!.turns.map(({ turn }) => turn)).toEqual([1, 2]);
    for (const [index, turn] of here!.turns.entries()) {
      const other = there!.turns[index]!;
      expect(turn.advantage).toBeCloseTo(other.advantage!, 3);
      expect(turn.untrained).toBeCloseTo(other.untrained!, 3);
      expect(turn.tokens!.texts).toEqual(other.tokens!.texts);
      expect(turn.tokens!.texts.join('').replaceAll(/\s/g, '')).not.toBe('');
      const mean = turn.tokens!.ratios.reduce((sum, ratio) => sum + ratio, 0) / turn.tokens!.ratios.length;
      expect(turn.advantage).toBeCloseTo(mean, 3);
    }
    expect(Math.abs(here!.turns[0]!.advantage!)).toBeGreaterThan(0.001);
  });

  it('can be given up', async () => {
    const cancel = new AbortController();
    const asked = computeCredits(openCritic(critic), [await read()], options({ signal: cancel.signal }));
    cancel.abort();
    await expect(asked).rejects.toThrow('abort');
  });

  it('says in one sentence why a dialogue cannot be scored', async () => {
    const cut = { ...agentTurn('a', 3), text: '', finishReason: 'length' } as NewEvent;
    const given = await read(reply('a', 2), cut);
    const computing = computeCredits(openCritic(critic), [given], options());
    await expect(computing).rejects.toMatchObject({ code: 'training/cannot-score' });
  });

  it('is kept for this critic and this dialogue as it is, whatever people say of it', async () => {
    const opened = openCritic(critic);
    const given = await read();
    const cache = new CreditCache(data, (sentence) => expect.fail(sentence));
    expect(await cache.read(opened.id, given)).toBeUndefined();
    const [credit] = await computeCredits(opened, [given], options());
    await cache.write(credit!);
    const again = new CreditCache(data, (sentence) => expect.fail(sentence));
    expect(await again.read(opened.id, await read(verdict('a', 1, true)))).toEqual(credit);
    expect(await again.read('another', given)).toBeUndefined();
    expect(await again.read(opened.id, await read(reply('a', 2), agentTurn('a', 3)))).toBeUndefined();
    const kept = await again.advantages(opened.id);
    expect(kept.get('a')?.get(2)).toBe(credit!.turns[1]!.advantage);
  });
});
