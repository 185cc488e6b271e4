import { get } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { starterPack } from '../../fixtures/dialogue';
import { startServing, type ServingProcess } from '../../fixtures/serving';
import { tandem } from '../cli/tandem';

let server: ServingProcess;

beforeAll(async () => {
  server = await startServing(['--model', 'starter']);
});

afterAll(() => server.stop());

const messages = [{ role: 'user', content: 'I need a function.' }];
/** At this temperature an answer has hundreds of tokens, and so many answers at once take minutes. */
const long = { model: 'starter', messages, temperature: 50, seed: 3, n: 128, max_tokens: 1900, stream: true };

const post = (url: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });

/** `fetch` sends its own Host, whatever it is told. */
const statusFor = (headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(`${server.url}/models`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });

describe('tandem serve --model', () => {
  it('lets in no web page, and no one who came by another name of this machine', async () => {
    expect(await statusFor({})).toBe(200);
    expect(await statusFor({ origin: 'http://example.com' })).toBe(403);
    expect(await statusFor({ host: 'example.com' })).toBe(403);
  });

  it('serves a folder under a name, and asks for the token where there is one', async () => {
    const args = ['--model', `local:${path.resolve('media/starter')}`, '--model-name', 'gpt-4o'];
    await using guarded = await startServing(args, { TANDEM_SERVE_TOKEN: 'a-secret' });
    const asked = { model: 'gpt-4o', messages, max_tokens: 2 };
    expect((await fetch(`${new URL(guarded.url).origin}/health`)).status).toBe(200);
    const refused = await post(guarded.url, asked, { authorization: 'Bearer another' });
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
    const answered = await post(guarded.url, asked, { authorization: 'Bearer a-secret' });
    expect(await answered.json()).toMatchObject({ model: 'gpt-4o', usage: { completion_tokens: 2 } });
  });

  it('ends at SIGTERM with an error for what is open', async () => {
    const stopping = await startServing(['--model', 'starter']);
    const response = await post(stopping.url, long);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value!;
    stopping.child.kill('SIGTERM');
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    expect(text.trim().split('\n').at(-1)).toContain('serving/stopped');
    expect(await stopping.exited).toBe(0);
  });

  it.each([
    ['what is for an environment', ['--model', 'starter', '--seed', '1']],
    ['a model on another server', ['--model', 'openai:m@http://127.0.0.1:9/v1']],
    ['the sampling of no agent', ['--tasks', starterPack, '--temperature', '0']],
    ['a simulator beside an agent', ['--tasks', starterPack, '--agent', 'starter', '--simulator', 'rules']],
    ['other machines without a token', ['--model', 'starter', '--host', '0.0.0.0']],
  ])('refuses %s with exit code 2', async (_, args) => {
    expect(await tandem('serve', ...args)).toMatchObject({ code: 2, stdout: '' });
  });
});
