import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { startChatServer, type ChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { answers, asks, starterPack } from '../../fixtures/dialogue';
import { temporaryFolder } from '../../fixtures/log';
import { runNode, type Ended } from '../../fixtures/tasks';

afterEach(() => vi.unstubAllEnvs());

async function start(...turns: readonly string[]): Promise<ChatServer> {
  const server = await startChatServer({
    reply: ({ body }) => answer(turns[(body.messages.length - 1) / 2] ?? turns.at(-1)!),
  });
  onTestFinished(() => server.close());
  return server;
}

const keysAt = ({ requests }: ChatServer) => new Set(requests.map(({ headers }) => headers.authorization));

/** Collects one dialogue of an agent and a simulator on separate servers. */
async function collect(agent: ChatServer, simulator: ChatServer, ...more: readonly string[]): Promise<Ended> {
  const data = await temporaryFolder();
  vi.stubEnv('TANDEM_CACHE', data);
  vi.stubEnv('OPENAI_API_KEY', 'sk-openai');
  vi.stubEnv('OPENAI_BASE_URL', '');
  vi.stubEnv('AGENT_KEY', 'sk-agent');
  vi.stubEnv('SIMULATOR_KEY', 'sk-simulator');
  return runNode([
    ...['dist/tandem.js', 'collect', '--tasks', starterPack, '--limit', '1', '--jobs', '1', '--data', data],
    ...['--agent', `openai:m@${agent.url}`, '--simulator', `openai:m@${simulator.url}`, ...more],
  ]);
}

const players = () => Promise.all([start(asks('How many?'), answers('def f(): return 1')), start('Three.')]);

it('tandem collect sends the key of OPENAI_API_KEY to no other server, and named keys each to its own', async () => {
  const [agent, simulator] = await players();
  const named = ['--key-env', `AGENT_KEY@${agent.url}`, '--key-env', `SIMULATOR_KEY@${simulator.url}`];
  expect(await collect(agent, simulator, ...named)).toMatchObject({ code: 0 });
  expect(keysAt(agent)).toEqual(new Set(['Bearer sk-agent']));
  expect(keysAt(simulator)).toEqual(new Set(['Bearer sk-simulator']));
});

it('tandem collect sends no key to a server for which none is named', async () => {
  const [agent, simulator] = await players();
  expect(await collect(agent, simulator, '--key-env', `AGENT_KEY@${agent.url}`)).toMatchObject({ code: 0 });
  expect(keysAt(agent)).toEqual(new Set(['Bearer sk-agent']));
  expect(keysAt(simulator)).toEqual(new Set([undefined]));
});

it('tandem collect asks for which of two servers a key is, and sends nothing', async () => {
  const [agent, simulator] = await players();
  const { code, stderr } = await collect(agent, simulator, '--key-env', 'AGENT_KEY');
  expect(code).toBe(2);
  expect(stderr).toContain(`Write AGENT_KEY@${new URL(agent.url).origin}.`);
  expect([...agent.requests, ...simulator.requests]).toEqual([]);
});
