import { expect, it, onTestFinished, vi } from 'vitest';
import { startChatServer, type ChatServerOptions } from '../../../../fixtures/chat-server';
import { answer, status } from '../../../../fixtures/chat-server-replies';
import { waitForServers } from '../../../../fixtures/unhurried';
import { kept } from '../../memento';
import { acts, window, type Input } from '../../vscode';

vi.mock('vscode', () => import('../../vscode'));

const { Connect } = await import('../../../../../src/editor/models/connect/connect');

waitForServers();

async function start(options: Partial<ChatServerOptions> = {}) {
  const server = await startChatServer({ reply: () => answer('Hello.'), ...options });
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

/** Returns the labels of an input's rows, without icons. */
const labels = (input: Input): string[] => input.items.map(({ label }) => label.replace(/\$\([^)]*\) /, ''));

it('asks for one of all models of a server that it finds on this machine, and shows the chosen one', async () => {
  const server = await start({ models: ['gemma', 'llama', 'phi', 'qwen'] });
  const { servers, keys } = kept([{ name: 'Lab', baseUrl: server.url, model: 'other' }]);
  acts.push(
    async (address) => {
      await expect.poll(() => labels(address)).toContain('Found on this machine');
      expect(address.items[1]).toMatchObject({ label: server.url, description: '4 models' });
      expect(labels(address)).toContain('https://api.openai.com/v1');
      address.take(server.url);
    },
    async (model) => {
      await expect.poll(() => labels(model)).toEqual(['gemma', 'llama', 'phi', 'qwen']);
      model.take('qwen');
    },
    (review) => review.take('Model'),
    async (model) => {
      await expect.poll(() => labels(model)).toEqual(['qwen', 'gemma', 'llama', 'phi']);
      expect(model.value).toBe('');
      expect(model.items[0]).toMatchObject({ description: 'chosen' });
      model.take('qwen');
    },
    (review) => review.take('Connect and Use as Agent'),
  );
  const connected = await new Connect(servers, keys).add();
  expect(connected).toEqual({ server: { name: 'qwen', baseUrl: server.url, model: 'qwen' }, as: 'agent' });
  expect(server.requests).toHaveLength(1);
});

it('takes the only model of a server that it finds, and names it beside the address', async () => {
  const server = await start({ models: ['qwen'] });
  const { servers, keys } = kept([{ name: 'Lab', baseUrl: server.url, model: 'other' }]);
  acts.push(
    async (address) => {
      await expect.poll(() => labels(address)).toContain('qwen');
      expect(address.items[1]).toMatchObject({ label: 'qwen', description: server.url });
      address.take('qwen');
    },
    (review) => review.take('Connect Only'),
  );
  expect(await new Connect(servers, keys).add()).toMatchObject({ server: { model: 'qwen' } });
});

it('tests a connection before it is kept, says what is wrong above the parts, and keeps it anyway when told so', async () => {
  const server = await start({ reply: () => status(404, { message: 'There is no such model' }) });
  const { servers, keys } = kept();
  acts.push(
    (address) => address.type(server.url),
    (key) => key.type(''),
    (model) => model.type('m'),
    async (review) => {
      review.take('Connect Only');
      await expect.poll(() => labels(review)).toContain('Connect Anyway');
      expect(labels(review)[0]).toBe('Test Connection Again');
      expect(review.activeItems.map(({ label }) => label)).toEqual(['Model']);
      expect(servers.all).toEqual([]);
      review.take('Connect Only');
    },
  );
  await new Connect(servers, keys).add();
  expect(servers.all).toMatchObject([{ model: 'm' }]);
  expect(servers.state(servers.all[0]!)).toMatchObject({ kind: 'fails' });
});

it('mends a wrong key and a wrong address where the models are asked for', async () => {
  const server = await start({ key: 'sk-right', models: ['qwen'] });
  const { servers, keys, secrets } = kept();
  acts.push(
    (address) => address.type(`${server.url}/typo`),
    (key) => key.type('sk-wrong'),
    async (model) => {
      await expect.poll(() => labels(model)).toContain('Enter another key');
      model.take('Enter another key');
    },
    (key) => {
      expect(key.value).toBe('sk-wrong');
      key.type('sk-right');
    },
    async (model) => {
      await expect.poll(() => labels(model)).toContain('Correct the address');
      model.take('Correct the address');
    },
    (address) => {
      expect(address.value).toBe(`${server.url}/typo`);
      address.type(server.url);
    },
    async (model) => {
      await expect.poll(() => labels(model)).toContain('qwen');
      model.take('qwen');
    },
    (review) => review.take('Connect Only'),
  );
  await new Connect(servers, keys).add();
  expect(servers.all).toMatchObject([{ baseUrl: server.url, model: 'qwen' }]);
  expect([...secrets.values()]).toEqual(['sk-right']);
});

it('does not let an edited connection become another one, and goes on with what was typed', async () => {
  const server = await start({ models: ['llama', 'qwen'] });
  const lab = { name: 'Lab', baseUrl: server.url, model: 'qwen' };
  const home = { name: 'Home', baseUrl: server.url, model: 'llama', price: { prompt: 1, completion: 2 } };
  const { servers, keys, settings, secrets } = kept([lab, home]);
  acts.push(
    (review) => review.take('Key'),
    (key) => key.type('sk-new'),
    (review) => review.take('Model'),
    (model) => model.type('llama'),
    (review) => review.take('Save'),
    (review) => {
      expect(window.showErrorMessage).toHaveBeenLastCalledWith(expect.stringContaining('Home'));
      expect(settings.servers).toEqual([lab, home]);
      expect([...secrets]).toEqual([]);
      review.take('Model');
    },
    (model) => model.type('qwen2'),
    (review) => review.take('Save'),
  );
  await new Connect(servers, keys).edit(lab);
  expect(settings.servers).toEqual([{ ...lab, model: 'qwen2' }, home]);
});
