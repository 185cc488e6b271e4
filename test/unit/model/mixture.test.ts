import { expect, test } from 'vitest';
import type { TurnScorer } from '../../../src/core/model/local/critic/turnScorer';
import { chooseCandidate, MixtureModel } from '../../../src/core/model/mixture';
import type { GenerateOptions, Generation, Model, SamplingSettings } from '../../../src/core/model/model';
import { question } from './play';

const sampling: SamplingSettings = { temperature: 1, maxTokens: 64, seed: 7 };

type Says = (seed: number | undefined, description: string) => string;

/** @param says by the seed and the task */
function modelThat(name: string, says: Says): Model {
  return {
    name,
    fingerprint: name,
    generate: (_, { seed }, { position }: GenerateOptions = {}) => {
      const text = says(seed, position?.description ?? '');
      const ids = Array.from(text, (letter) => letter.codePointAt(0)!);
      return Promise.resolve<Generation>({
        text,
        finishReason: 'stop',
        tokens: { ids, logprobs: ids.map(() => -1) },
        usage: { promptTokens: 10, completionTokens: ids.length },
        timing: { totalMs: 1, attempts: 1 },
      });
    },
  };
}

/** By text; a text that is not listed has no tokens. */
const criticOf = (scores: Readonly<Record<string, number>>): TurnScorer => ({
  fingerprint: 'critic',
  score: (_, { text }) => Promise.resolve(scores[text]),
  close: () => Promise.resolve(),
});

const at = (description: string): GenerateOptions => ({ position: { description, turn: 1 } });

test('one candidate of one model is what the model says alone, token for token', async () => {
  const alone = modelThat('a', (seed) => `turn of ${seed}`);
  const mixture = new MixtureModel('mixture:a', [alone], criticOf({}), { n: 1, lambda: 0 });
  const said = await mixture.generate(question, sampling);
  const { text, tokens, usage, finishReason } = await alone.generate(question, sampling);
  expect(said).toMatchObject({ text, tokens, usage, finishReason, servedModel: 'a' });
});

test('two experts for different tasks do as well together as the better one for each task', async () => {
  const first = modelThat('first', (_, task) => (task === 'prices' ? 'right' : 'wrong'));
  const second = modelThat('second', (_, task) => (task === 'dates' ? 'right' : 'wrong'));
  const critic = criticOf({ right: 0.2, wrong: -0.3 });
  const mixture = new MixtureModel('mixture:first+second', [first, second], critic, { n: 2, lambda: 0 });
  expect(await mixture.generate(question, sampling, at('prices'))).toMatchObject({
    ...{ text: 'right', servedModel: 'first' },
    selection: {
      place: 0,
      candidates: [
        { model: 'first', score: 0.2 },
        { model: 'first', score: 0.2 },
        { model: 'second', score: -0.3 },
        { model: 'second', score: -0.3 },
      ],
    },
    usage: { promptTokens: 40, completionTokens: 20 },
  });
  expect(await mixture.generate(question, sampling, at('dates'))).toMatchObject({
    ...{ text: 'right', servedModel: 'second' },
    selection: { place: 2 },
  });
  expect(mixture.notes).toEqual([
    'mixture:first+second: turns chosen by the critic: 1 by first, 1 by second.',
  ]);
});

test('each candidate has a seed of its own, and a greedy model is asked once', async () => {
  const seeds: unknown[] = [];
  const model = modelThat('a', (seed) => {
    seeds.push(seed);
    return 'same';
  });
  const mixture = new MixtureModel('mixture:a', [model], criticOf({ same: 1 }), { n: 3, lambda: 0 });
  await mixture.generate(question, sampling);
  expect(new Set(seeds).size).toBe(3);
  await mixture.generate(question, { ...sampling, temperature: 0 });
  expect(seeds.slice(3)).toEqual([7]);
});

test('a candidate without tokens is said only if no other has any', async () => {
  const [mute, speaking] = [modelThat('mute', () => ''), modelThat('speaking', () => 'bad')];
  const critic = criticOf({ bad: -9 });
  const both = new MixtureModel('mixture:mute+speaking', [mute, speaking], critic, { n: 1, lambda: 0 });
  expect(await both.generate(question, sampling)).toMatchObject({
    text: 'bad',
    selection: { candidates: [{ score: null }, { score: -9 }] },
  });
  const one = new MixtureModel('mixture:mute', [mute], critic, { n: 2, lambda: 0.1 });
  expect(await one.generate(question, sampling)).toMatchObject({ text: '', selection: { place: 0 } });
});

test('a failing model stops the candidates of the others', async () => {
  let stopped = false;
  const failing: Model = { name: 'failing', generate: () => Promise.reject(new Error('out of order')) };
  const slow: Model = {
    name: 'slow',
    generate: (_, __, { signal } = {}) =>
      new Promise((_resolve, reject) => {
        signal!.addEventListener('abort', () => {
          stopped = true;
          reject(new Error('cancelled'));
        });
      }),
  };
  const mixture = new MixtureModel('mixture:slow+failing', [slow, failing], criticOf({}), {
    n: 1,
    lambda: 0,
  });
  await expect(mixture.generate(question, sampling)).rejects.toThrow('out of order');
  expect(stopped).toBe(true);
});

/** Frequency of each place over evenly spread draws. */
function frequencies(scores: readonly (number | undefined)[], lambda: number): number[] {
  const draws = 10_000;
  const counts = scores.map(() => 0);
  for (let draw = 0; draw < draws; draw++)
    counts[chooseCandidate(scores, lambda, (draw + 0.5) / draws)]! += 1 / draws;
  return counts;
}

test('with lambda a candidate is drawn in proportion to exp(score / lambda)', () => {
  const scores = [0.1, undefined, 0.3, 0.2];
  const weights = [Math.exp(1), 0, Math.exp(3), Math.exp(2)];
  const sum = weights.reduce((total, weight) => total + weight, 0);
  for (const [place, frequency] of frequencies(scores, 0.1).entries())
    expect(frequency).toBeCloseTo(weights[place]! / sum, 3);
});

test('a small lambda chooses the best, and a large one draws from the prior', () => {
  const scores = [0.1, 0.3, 0.3, 0.2];
  expect(frequencies(scores, 0)).toEqual([0, expect.closeTo(1), 0, 0]);
  expect(frequencies(scores, 1e-6)).toEqual([0, expect.closeTo(0.5), expect.closeTo(0.5), 0]);
  expect(frequencies(scores, 1e9)).toEqual(scores.map(() => expect.closeTo(0.25, 3) as number));
});
