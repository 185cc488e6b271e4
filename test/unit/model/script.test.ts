import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ScriptModel } from '../../../src/core/model/script';
import { errorOf, question, sampling } from './play';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-script-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function script(content: unknown): Promise<string> {
  const file = path.join(folder, `${crypto.randomUUID()}.json`);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const at = (turn: number, description = 'Round a price') => ({ position: { turn, description } });

test('turns are played in order, and the last one again and again', async () => {
  const model = new ScriptModel(await script(['first', 'second']));
  const texts = [];
  for (const turn of [1, 2, 3, 1]) texts.push((await model.generate(question, sampling, at(turn))).text);
  expect(texts).toEqual(['first', 'second', 'second', 'first']);
});

test('each task can have its own turns', async () => {
  const model = new ScriptModel(await script({ price: ['about prices'], '*': ['about anything'] }));
  expect((await model.generate(question, sampling, at(1))).text).toBe('about prices');
  expect((await model.generate(question, sampling, at(1, 'Sort names'))).text).toBe('about anything');
  expect((await model.generate(question, sampling)).text).toBe('about prices');
});

test('a turn is streamed in a few pieces that cut no character', async () => {
  const model = new ScriptModel(await script(['👍👎👍👎👍👎 done']));
  const pieces: string[] = [];
  const turn = await model.generate(question, sampling, { onText: (piece) => pieces.push(piece) });
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join('')).toBe(turn.text);
  expect(pieces.join('')).not.toContain('\uFFFD');
  expect(turn).toMatchObject({ finishReason: 'stop', timing: { attempts: 1 } });
});

test('a slow script can be cancelled in the middle of a turn', async () => {
  const model = new ScriptModel(await script({ turns: ['a long turn'], delayMilliseconds: 5 }));
  const cancel = new AbortController();
  const pieces: string[] = [];
  const turn = model.generate(question, sampling, {
    signal: cancel.signal,
    onText: (piece) => {
      pieces.push(piece);
      cancel.abort();
    },
  });
  expect(await errorOf(turn)).toMatchObject({ name: 'AbortError' });
  expect(pieces).toHaveLength(1);
});

test.each([
  ['not JSON', 'not json', 'cannot be read'],
  ['no turns', [], 'is not in the form of a script'],
  ['turns that are no text', [1], 'is not in the form of a script'],
  ['an unknown setting', { turns: ['a'], delay: 5 }, 'is not in the form of a script'],
])('a script with %s is refused with a sentence that says what to write', async (_, content, part) => {
  const file = await script(content);
  expect(() => new ScriptModel(file)).toThrow(part);
  expect(() => new ScriptModel(file)).toThrow(file);
});
