import { get } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { starterPack } from '../../fixtures/dialogue';
import { RawClient, serveEnvironment } from '../../fixtures/environment';
import type { ServingProcess } from '../../fixtures/serving';
import { runNode, taskRow } from '../../fixtures/tasks';

let folder: string;
let server: ServingProcess;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-serve-http-'));
  const facts = [{ topic: 'limit', keywords: ['limit'], answers: ['500 grams.'] }];
  const rows = ['a', 'b', 'c'].map((id) => JSON.stringify(taskRow({ id, facts })));
  const test = path.join(folder, 'parcels-test.jsonl');
  await writeFile(test, [...rows, JSON.stringify(taskRow({ id: 'without facts' }))].join('\n'));
  server = await serveEnvironment([], { tasks: [starterPack, test] });
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function asked(where: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(
    `${server.url}${where}`,
    body === undefined
      ? {}
      : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
  );
  return { status: response.status, body: await response.json() };
}

describe('the environment by plain HTTP', () => {
  it('lists the packs as splits and their tasks, and nothing that is hidden from the agent', async () => {
    expect(await asked('/list_environments')).toMatchObject({ body: ['tandem'] });
    expect(await asked('/Tandem/splits')).toMatchObject({
      body: [
        { name: 'written-by-hand', type: 'train' },
        { name: 'parcels-test', type: 'test' },
      ],
    });
    const { body } = await asked('/tandem/tasks', { split: 'parcels-test' });
    expect(body).toMatchObject({ env_name: 'tandem', tasks: [{ task_id: 'a', index: 0 }, {}, {}] });
    expect(JSON.stringify(body)).not.toContain('return 300');
  });

  it('answers malformed messages with the protocol’s code, and plays on', async () => {
    const client = await RawClient.connect(server.url);
    const refused: [unknown, string][] = [
      [Buffer.from([0, 1, 2]), 'INVALID_JSON'],
      ['null', 'VALIDATION_ERROR'],
      [{ type: 7 }, 'VALIDATION_ERROR'],
      [{}, 'UNKNOWN_TYPE'],
      [{ type: 'toString' }, 'UNKNOWN_TYPE'],
      [{ type: 'step', data: { message: 'Hello?' } }, 'EXECUTION_ERROR'],
      [{ type: 'reset', data: { seed: -1 } }, 'VALIDATION_ERROR'],
      [{ type: 'reset', data: { split: 'none' } }, 'EXECUTION_ERROR'],
      [{ type: 'step', data: { message: 'x'.repeat(1_000_001) } }, 'VALIDATION_ERROR'],
      [`{"type":"reset","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'VALIDATION_ERROR'],
    ];
    for (const [message, code] of refused)
      expect(await client.exchange(message), code).toMatchObject({ type: 'error', data: { code } });
    expect(await client.exchange({ type: 'mcp', data: {} })).toMatchObject({ type: 'mcp' });
    expect(await client.reset()).toMatchObject({ type: 'observation' });
    client.send('x'.repeat(17 * 1024 * 1024));
    expect(await client.closed).toBe(1009);
  });

  it.each([
    ['/nowhere', undefined, 404],
    ['/other/splits', undefined, 404],
    ['/reset', undefined, 405],
    ['/reset', '{"seed":', 422],
    ['/reset', { seed: 'one' }, 422],
    ['/reset', { task_id: 'none' }, 400],
    ['/step', { action: { text: 'a' } }, 422],
    ['/tandem/tasks', { split: 'none' }, 404],
    ['/tandem/task', { split: 'parcels-test', index: 3 }, 400],
    ['/step', `{"action":{"message":"${'x'.repeat(17 * 1024 * 1024)}"}}`, 413],
  ])('says what is wrong with %s', async (where, body, status) => {
    const answered = await asked(where, body);
    expect(answered.status).toBe(status);
    expect(answered.body).toHaveProperty('detail');
  });
});

describe('who may use the environment', () => {
  const opened = (headers: Record<string, string>, url = server.url): Promise<RawClient> =>
    RawClient.connect(url, headers);

  /** `fetch` sends its own Host, whatever it is told. */
  const statusFor = (headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(`${server.url}/metadata`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
    });

  it('lets in no web page, and nobody who came by another name of this machine', async () => {
    expect(await statusFor({})).toBe(200);
    expect(await statusFor({ host: 'localhost:8000' })).toBe(200);
    expect(await statusFor({ origin: 'http://example.com' })).toBe(403);
    expect(await statusFor({ host: 'example.com:8000' })).toBe(403);
    await expect(opened({ origin: 'http://example.com' })).rejects.toThrow('403');
    await expect(opened({ host: 'example.com' })).rejects.toThrow('403');
  });

  it('lives on after an upgrade of an address that is none, and knows no session of before', async () => {
    const headers = { connection: 'upgrade', upgrade: 'websocket' };
    const status = await new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port: new URL(server.url).port, path: '//', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
    });
    expect(status).toBe(404);
    const lost = await RawClient.connect(server.url, {}, '?session_id=of-yesterday');
    expect(await lost.next()).toMatchObject({ type: 'error', data: { code: 'SESSION_ERROR' } });
    await lost.closed;
    expect(await (await opened({})).reset()).toMatchObject({ type: 'observation' });
  });

  it('asks everybody for the token where there is one', async () => {
    const tokenFile = path.join(folder, 'token');
    await writeFile(tokenFile, 'a-secret\n');
    const places = [
      await serveEnvironment([], { env: { TANDEM_SERVE_TOKEN: 'a-secret' } }),
      await serveEnvironment(['--token-file', tokenFile]),
    ];
    for (const place of places) {
      const { url } = place;
      const statusOf = async (token?: string, where = '/metadata'): Promise<number> =>
        (await fetch(url + where, { headers: token === undefined ? {} : { authorization: token } })).status;
      expect(await statusOf(undefined, '/health')).toBe(200);
      expect(await statusOf()).toBe(401);
      expect(await statusOf('Bearer another')).toBe(401);
      expect(await statusOf('a-secret')).toBe(401);
      expect(await statusOf('Bearer a-secret')).toBe(200);
      await expect(opened({}, url)).rejects.toThrow('401');
      const client = await opened({ authorization: 'Bearer a-secret', origin: 'http://example.com' }, url);
      expect(await client.reset()).toMatchObject({ type: 'observation' });
      await place.stop();
    }
  });

  it('does not start for other machines without a token', async () => {
    const args = ['serve', '--tasks', starterPack, '--host', '0.0.0.0'];
    const { code, stderr } = await runNode(['dist/tandem.js', ...args]);
    expect(stderr).toContain('TANDEM_SERVE_TOKEN');
    expect(code).toBe(2);
  });
});
