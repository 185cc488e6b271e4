import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { listModels, tryModel } from '../../../src/core/model/connection';
import { openModel } from '../../../src/core/model/spec';
import { startChatServer, type ChatServer, type ChatServerOptions } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { waitForServers } from '../../fixtures/unhurried';
import { question, sampling } from './play';

waitForServers();

/** The server of `OPENAI_BASE_URL`, for which `OPENAI_API_KEY` is meant. */
let own: ChatServer;
let other: ChatServer;

async function start(options: Partial<ChatServerOptions> = {}): Promise<ChatServer> {
  const server = await startChatServer({ reply: () => answer('ok'), ...options });
  onTestFinished(() => server.close());
  return server;
}

beforeEach(async () => {
  own = await start();
  other = await start();
  vi.stubEnv('OPENAI_BASE_URL', own.url);
  vi.stubEnv('OPENAI_API_KEY', 'sk-own');
});

afterEach(() => vi.unstubAllEnvs());

const ask = (spec: string, apiKey?: string) =>
  openModel(spec, { keyOf: () => apiKey }).generate(question, sampling);

/** Returns the received keys, one for each request. */
const keysAt = ({ requests }: ChatServer) => requests.map(({ headers }) => headers.authorization);

it('OPENAI_API_KEY goes to the server that OPENAI_BASE_URL names, and to no other', async () => {
  await ask('openai:m');
  await ask(`openai:m@${own.url}`);
  await ask(`openai:m@${other.url}`);
  expect(keysAt(own)).toEqual(['Bearer sk-own', 'Bearer sk-own']);
  expect(keysAt(other)).toEqual([undefined]);
});

it('without OPENAI_BASE_URL it is for OpenAI, and goes to no server of another origin', async () => {
  vi.stubEnv('OPENAI_BASE_URL', '');
  await ask(`openai:m@${other.url}`);
  expect(keysAt(other)).toEqual([undefined]);
  expect(() => openModel('openai:m')).not.toThrow();
});

it('it is not for OpenAI when OPENAI_BASE_URL names another server', () => {
  expect(() => openModel('openai:m@https://api.openai.com/v1')).toThrow('--key-env');
});

it('a key that is given for a server goes to it in place of that of the environment; an empty one is none', async () => {
  await ask(`openai:m@${other.url}`, 'sk-other');
  await ask('openai:m', '');
  expect(keysAt(other)).toEqual(['Bearer sk-other']);
  expect(keysAt(own)).toEqual([undefined]);
});

it.each(['HTTP://', 'hTTp:\\\\', 'http:/', ' http://'])(
  'an address that begins with "%s" is played and tested at the same server',
  async (scheme) => {
    const address = other.url.replace('http://', scheme);
    await ask(`openai:m@${address}/`, 'sk-other');
    expect(await tryModel({ baseUrl: address, model: 'm', key: 'sk-other' })).toMatchObject({ works: true });
    expect(keysAt(other)).toEqual(['Bearer sk-other', 'Bearer sk-other']);
    expect(keysAt(own)).toEqual([]);
    vi.stubEnv('OPENAI_BASE_URL', address);
    await ask(`openai:m@${other.url}`);
    expect(keysAt(other).at(-1)).toBe('Bearer sk-own');
  },
);

it('the test of a connection and the list of models send no other key than the play does', async () => {
  const closed = await start({ key: 'sk-own', models: ['m'] });
  expect(await tryModel({ baseUrl: closed.url, model: 'm' })).toMatchObject({ problem: 'no-key' });
  expect(await listModels({ baseUrl: closed.url })).toMatchObject({ problem: 'no-key' });
  vi.stubEnv('OPENAI_BASE_URL', closed.url);
  expect(await tryModel({ baseUrl: closed.url, model: 'm' })).toMatchObject({ works: true });
  expect(await listModels({ baseUrl: closed.url })).toMatchObject({ names: ['m'] });
});

it('a bad address is told apart before anything is sent', async () => {
  for (const baseUrl of ['ftp://127.0.0.1/v1', 'http://', `${own.url}?x=1`, 'http://me:word@127.0.0.1/v1']) {
    for (const found of [await listModels({ baseUrl }), await tryModel({ baseUrl, model: 'm' })]) {
      expect(found).toMatchObject({ problem: 'bad-address' });
      expect(JSON.stringify(found)).not.toContain('me:word');
    }
  }
  expect(() => openModel('openai:m@ftp://127.0.0.1/v1')).toThrow('is not the address of a server');
});

it('organization, project and headers of the environment go where its key goes', async () => {
  vi.stubEnv('OPENAI_ORG_ID', 'org-own');
  vi.stubEnv('OPENAI_PROJECT_ID', 'project-own');
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-gateway-key: sk-own\nX-Other: 1');
  await ask('openai:m');
  await ask(`openai:m@${other.url}`);
  expect(own.requests[0]?.headers).toMatchObject({
    'openai-organization': 'org-own',
    'openai-project': 'project-own',
    'x-gateway-key': 'sk-own',
  });
  for (const name of ['openai-organization', 'openai-project', 'x-gateway-key', 'x-other'])
    expect(other.requests[0]?.headers).not.toHaveProperty(name);
});

it('a server that sends the request on to another origin does not send the key on', async () => {
  const redirecting = await start({
    reply: () => (response) => {
      response.writeHead(307, { location: `${other.url}/chat/completions` }).end();
    },
  });
  await ask(`openai:m@${redirecting.url}`, 'sk-redirected');
  expect(keysAt(redirecting)).toEqual(['Bearer sk-redirected']);
  expect(keysAt(other)).toEqual([undefined]);
});
