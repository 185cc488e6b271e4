import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { starterPack } from '../../fixtures/dialogue';
import { startServing, type ServingProcess } from '../../fixtures/serving';
import { tandem } from '../cli/tandem';

let folder: string;
let server: ServingProcess;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-serve-model-'));
  server = await startServing(['--model', 'starter']);
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const messages = [{ role: 'user', content: 'I need a function.' }];
/** At this temperature an answer has hundreds of tokens, and so many answers at once take minutes. */
const long = { model: 'starter', messages, temperature: 50, seed: 3, n: 128, max_tokens: 1900, stream: true };

const post = (url: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });

/** Plays three tasks; returns what the agent wrote and the grades, by task, as the log has it. */
async function played(agent: string, data: string) {
  const where = path.join(folder, data);
  const { code, stderr } = await tandem(
    ...['collect', '--tasks', starterPack, '--limit', '3', '--simulator', 'rules', '--jobs', '1'],
    ...['--agent', agent, '--temperature', '0', '--concurrency', '1', '--data', where],
  );
  expect(code, stderr).toBe(0);
  const log = await TrajectoryLog.open(where);
  const ids = log.list({ offset: 0, limit: 10 }).rows.map(({ id }) => id);
  const all = await Array.fromAsync(log.trajectories(ids));
  await log.close();
  const told = all.map(({ task, turns, grades }) => ({
    task: task.id,
    turns: turns.map(({ agent: { text, finishReason, tokens, promptTokenIds, usage }, reply }) => ({
      ...{ text, finishReason, ids: tokens?.ids, promptTokenIds, usage, reply: reply?.text },
      logprobs: tokens?.logprobs,
    })),
    rewards: grades.map(({ grade }) => grade.reward),
  }));
  return told.sort((one, other) => one.task.localeCompare(other.task));
}

/** `fetch` sends its own Host, whatever it is told. */
const statusFor = (headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(`${server.url}/models`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });

describe('tandem serve --model', () => {
  it('plays the same dialogues over HTTP as the model plays here, token by token', async () => {
    const here = await played('starter', 'here');
    const served = await played(`openai:starter@${server.url}`, 'served');
    expect(here.flatMap(({ turns }) => turns).length).toBeGreaterThan(3);
    const near = here.map(({ turns, ...dialogue }) => ({
      ...dialogue,
      turns: turns.map(({ logprobs, ...turn }) => {
        expect(logprobs).toHaveLength(turn.ids!.length);
        return { ...turn, logprobs: logprobs!.map((one) => expect.closeTo(one, 4) as number) };
      }),
    }));
    expect(served).toEqual(near);
  });

  it('serves a folder under its name, or under another', async () => {
    for (const [args, id] of [
      [[], 'starter'],
      [['--model-name', 'gpt-4o'], 'gpt-4o'],
    ] as const) {
      await using named = await startServing(['--model', `local:${path.resolve('media/starter')}`, ...args]);
      const answered = await post(named.url, { model: id, messages, max_tokens: 2 });
      expect(await answered.json()).toMatchObject({ model: id, usage: { completion_tokens: 2 } });
    }
  });

  it('lets in no web page, and nobody who came by another name of this machine', async () => {
    expect(await statusFor({})).toBe(200);
    expect(await statusFor({ origin: 'http://example.com' })).toBe(403);
    expect(await statusFor({ host: 'example.com' })).toBe(403);
  });

  it('asks everybody for the token where there is one, and says so as the API does', async () => {
    await using guarded = await startServing(['--model', 'starter'], { TANDEM_SERVE_TOKEN: 'a-secret' });
    const asked = { model: 'starter', messages, max_tokens: 1 };
    expect((await fetch(`${new URL(guarded.url).origin}/health`)).status).toBe(200);
    const refused = await post(guarded.url, asked, { authorization: 'Bearer another' });
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
    expect((await post(guarded.url, asked, { authorization: 'Bearer a-secret' })).status).toBe(200);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends at %s with an error for what is open', async (signal) => {
    const stopping = await startServing(['--model', 'starter']);
    const response = await post(stopping.url, long);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value!;
    stopping.child.kill(signal);
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    expect(text.trim().split('\n').at(-1)).toContain('serving/stopped');
    expect(await stopping.exited).toBe(0);
  });

  it.each([
    [['--model', 'starter', '--tasks', starterPack], '--tasks is for an environment'],
    [['--model', 'starter', '--seed', '1'], '--seed is for an environment'],
    [['--model', 'openai:m@http://127.0.0.1:9/v1'], '--model takes starter or local:<folder>'],
    [['--model', 'script:samples/workspace/agents/asks-first.json'], '--model takes starter or local:'],
    [['--model', 'gpt'], '"gpt" is not a model'],
    [['--model', 'starter', '--host', '0.0.0.0'], 'TANDEM_SERVE_TOKEN'],
    [['--tasks', starterPack, '--model-name', 'm'], '--model-name needs --model'],
    [[], 'Say what to serve'],
  ])('says what is wrong with %j and exits with 2', async (args, sentence) => {
    const { code, stderr } = await tandem('serve', ...args);
    expect(stderr).toContain(sentence);
    expect(code).toBe(2);
  });

  it('does not listen when the model cannot be loaded', async () => {
    await writeFile(path.join(folder, 'config.json'), '{}');
    const { code, stderr } = await tandem('serve', '--model', `local:${folder}`);
    expect(stderr).toContain(folder);
    expect(code).toBe(1);
  });

  it('says in its help that it serves both', async () => {
    const { stdout } = await tandem('serve', '--help');
    expect(stdout.replace(/\s+/g, ' ')).toContain('serve tasks as an environment (OpenEnv)');
    expect(stdout).toContain('--model <model>');
  });
});
