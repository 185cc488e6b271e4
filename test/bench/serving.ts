/**
 * Measures what HTTP costs a local model: tokens per second of the starter model, of one answer at a time and of eight at
 * once, by the runner alone and through `tandem serve --model starter`, whole answers and streams, in turns in one run. An
 * answer is 64 tokens drawn nearly evenly, each with its own seed.
 *
 *   npm run build && node test/bench/run.mjs serving [--json]
 */
import path from 'node:path';
import * as z from 'zod';
import { LocalModel } from '../../src/core/model/local/model';
import { startServing } from '../fixtures/serving';

const TOKENS = 64;
const ROUNDS = 3;
const ANSWERS = 32;
const messages = [
  { role: 'user', content: 'I need a function that works out the price of tickets.' },
] as const;

/** Generates one answer; returns the number of its tokens. */
type Generate = (seed: number) => Promise<number>;

/** Measures answers and tokens per second with so many in flight. */
async function speed(generate: Generate, inFlight: number) {
  let tokens = 0;
  let next = 0;
  const began = performance.now();
  const work = async (): Promise<void> => {
    while (next < ANSWERS) {
      const written = await generate(next++);
      tokens += written;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  const seconds = (performance.now() - began) / 1000;
  return { answers: ANSWERS / seconds, tokens: tokens / seconds };
}

const counted = z.object({ usage: z.object({ completion_tokens: z.number() }) });

const alone = new LocalModel({
  name: 'starter',
  folder: path.resolve('media/starter'),
  inference: path.resolve('dist/inference.js'),
});
const server = await startServing(['--model', 'starter']);

async function post(fields: object): Promise<string> {
  const response = await fetch(`${server.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'starter', messages, temperature: 50, max_tokens: TOKENS, ...fields }),
  });
  return response.text();
}

const ways: Readonly<Record<string, Generate>> = {
  runner: async (seed) =>
    (await alone.generate(messages, { temperature: 50, maxTokens: TOKENS, seed })).usage.completionTokens,
  'runner, streaming': async (seed) => {
    const options = { onText: () => undefined };
    return (await alone.generate(messages, { temperature: 50, maxTokens: TOKENS, seed }, options)).usage
      .completionTokens;
  },
  HTTP: async (seed) => counted.parse(JSON.parse(await post({ seed }))).usage.completion_tokens,
  'HTTP, streaming': async (seed) => {
    const text = await post({ seed, stream: true, stream_options: { include_usage: true } });
    const last = text.trim().split('\n\n').at(-2)!.slice('data: '.length);
    return counted.parse(JSON.parse(last)).usage.completion_tokens;
  },
};

const best: Record<string, { answers: number; tokens: number }> = {};
for (let round = 0; round < ROUNDS; round++)
  for (const [way, generate] of Object.entries(ways))
    for (const inFlight of [1, 8]) {
      const measured = await speed(generate, inFlight);
      const name = `${way}, ${inFlight}`;
      if (round > 0 && measured.tokens > (best[name]?.tokens ?? 0)) best[name] = measured;
    }
await alone.close();
await server.stop();

if (process.argv.includes('--json')) console.log(JSON.stringify(best));
else
  for (const [name, { answers, tokens }] of Object.entries(best))
    console.log(`${name}: ${answers.toFixed(1)} answers/s, ${tokens.toFixed(0)} tokens/s`);
