import { expect, it, onTestFinished, vi } from 'vitest';
import { startChatServer, type ChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { answers, asks, starterPack } from '../../fixtures/dialogue';
import { temporaryFolder } from '../../fixtures/log';
import { tandem } from './tandem';

async function start(...turns: readonly string[]): Promise<ChatServer> {
  const server = await startChatServer({
    reply: ({ body }) => answer(turns[(body.messages.length - 1) / 2] ?? turns.at(-1)!),
  });
  onTestFinished(() => server.close());
  return server;
}

const keysAt = ({ requests }: ChatServer) => new Set(requests.map(({ headers }) => headers.authorization));

it.each([
  ['each named key to its own server', ['SIMULATOR_KEY'], 'Bearer sk-simulator'],
  ['no key, not even OPENAI_API_KEY, to a server that none is named for', [], undefined],
])('tandem collect sends %s', async (_, more, simulatorKey) => {
  const data = await temporaryFolder();
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('TANDEM_CACHE', data);
  vi.stubEnv('OPENAI_API_KEY', 'sk-openai');
  vi.stubEnv('OPENAI_BASE_URL', '');
  vi.stubEnv('AGENT_KEY', 'sk-agent');
  vi.stubEnv('SIMULATOR_KEY', 'sk-simulator');
  const agent = await start(asks('How many?'), answers('def f(): return 1'));
  const simulator = await start('Three.');
  const ended = await tandem(
    ...['collect', '--tasks', starterPack, '--limit', '1', '--jobs', '1', '--data', data],
    ...['--agent', `openai:m@${agent.url}`, '--simulator', `openai:m@${simulator.url}`],
    ...['--key-env', `AGENT_KEY@${agent.url}`],
    ...more.flatMap((name) => ['--key-env', `${name}@${simulator.url}`]),
  );
  expect(ended).toMatchObject({ code: 0 });
  expect(keysAt(agent)).toEqual(new Set(['Bearer sk-agent']));
  expect(keysAt(simulator)).toEqual(new Set([simulatorKey]));
});
