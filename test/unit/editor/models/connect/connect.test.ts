import { expect, it, onTestFinished, vi } from 'vitest';
import { startChatServer } from '../../../../fixtures/chat-server';
import { answer } from '../../../../fixtures/chat-server-replies';
import { kept } from '../../kept';
import { acts } from '../../vscode';

vi.mock('vscode', () => import('../../vscode'));

const { Connect } = await import('../../../../../src/editor/models/connect/connect');

async function start() {
  const server = await startChatServer({ reply: () => answer('Hello.') });
  onTestFinished(() => server.close());
  return server;
}

it('a key that was typed for one server goes to no other when the address is changed before it is kept', async () => {
  const [first, second] = await Promise.all([start(), start()]);
  const { servers, keys, secrets } = kept();
  acts.push(
    (address) => address.type(first.url),
    (key) => key.type('sk-first'),
    (model) => model.type('m'),
    (review) => review.take('Address'),
    (address) => address.type(second.url),
    async (review) => {
      review.take('Test Connection');
      await second.request(0);
      review.take('Connect Only');
    },
  );
  const connected = await new Connect(servers, keys).add();
  expect(connected?.server.baseUrl).toBe(second.url);
  expect(second.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  expect([...secrets]).toEqual([]);
});

it('a key stays with another path of the same server, and is kept for the server', async () => {
  const server = await start();
  const { servers, keys, secrets } = kept();
  acts.push(
    (address) => address.type(`${server.url}/typo`),
    (key) => key.type('sk-first'),
    (model) => model.type('m'),
    (review) => review.take('Address'),
    (address) => address.type(server.url),
    (review) => review.take('Connect Only'),
  );
  await new Connect(servers, keys).add();
  expect([...secrets]).toEqual([[`tandem.apiKey ${new URL(server.url).origin}`, 'sk-first']]);
});
