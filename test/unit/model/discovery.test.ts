import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findServers } from '../../../src/core/model/connection';
import { startChatServer, type ChatServerOptions } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { waitForServers } from '../../fixtures/unhurried';

waitForServers();

async function chat(options: Partial<ChatServerOptions>): Promise<string> {
  const server = await startChatServer({ reply: () => answer('Hello.'), ...options });
  onTestFinished(() => server.close());
  return server.url;
}

/** Starts a server of another kind, and returns an address on it. */
async function other(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Starts a server that lists one model, and returns its address and the headers that it got. */
async function listing(model: object) {
  const headers: (string | undefined)[] = [];
  const address = await other(
    createServer((request, response) => {
      headers.push(request.headers.authorization);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: [model] }));
    }),
  );
  return { address, headers };
}

it('finds what speaks the API, with its models, and passes over everything else', async () => {
  const two = await chat({ models: ['qwen', 'llama'] });
  const closed = await chat({ key: 'sk-secret' });
  const page = await other(createServer((_, response) => response.end('<html>A page.</html>')));
  const nobody = 'http://127.0.0.1:9/v1';
  expect(await findServers([page, closed, nobody, two])).toEqual([
    { baseUrl: closed, models: [], wantsKey: true },
    { baseUrl: two, models: ['llama', 'qwen'], wantsKey: false },
  ]);
});

it('passes over what does not answer in time', async () => {
  const silent = await other(createServer(() => undefined));
  expect(await findServers([silent], 50)).toEqual([]);
});

it.each([
  ['vllm', 'vLLM'],
  ['llamacpp', 'llama.cpp'],
  ['library', 'Ollama'],
  ['somebody', undefined],
])('tells by the owner %s of the models which program serves them: %s', async (owner, program) => {
  const { address } = await listing({ id: 'm', object: 'model', owned_by: owner });
  expect(await findServers([address])).toEqual([
    { baseUrl: address, models: ['m'], wantsKey: false, ...(program !== undefined && { program }) },
  ]);
});

it('sends no key, not even that of the environment, and follows no redirect', async () => {
  const { address, headers } = await listing({ id: 'm' });
  vi.stubEnv('OPENAI_BASE_URL', address);
  vi.stubEnv('OPENAI_API_KEY', 'sk-environment');
  onTestFinished(() => void vi.unstubAllEnvs());
  const redirecting = await other(
    createServer((_, response) => response.writeHead(302, { location: `${address}/models` }).end()),
  );
  expect(await findServers([address, redirecting])).toMatchObject([{ baseUrl: address }]);
  expect(headers).toEqual([undefined]);
});
