import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readCluster, workerMemory } from '../../../src/core/training/cluster';
import { RayDashboard } from '../../fixtures/ray-dashboard';
import { waitForServers } from '../../fixtures/unhurried';

waitForServers();

let dashboard: RayDashboard;

beforeAll(async () => {
  dashboard = await RayDashboard.start();
});

afterEach(() => {
  dashboard.instead = undefined;
  dashboard.gpus = [];
  dashboard.state = 'ALIVE';
});

afterAll(() => dashboard.close());

const refused = (waitMs?: number): Promise<unknown> =>
  readCluster(dashboard.address, { waitMs }).then(
    () => 'nothing was refused',
    (error: unknown) => error,
  );

it('reads what a real dashboard says of its nodes', async () => {
  expect(await readCluster(`${dashboard.address}/`)).toEqual({
    version: '2.60.0',
    nodes: [
      { host: 'vm', cpus: 1, memory: 16_902_635_520, gpus: [] },
      { host: 'vm', cpus: 1, memory: 16_912_166_912, gpus: [] },
    ],
  });
  expect(dashboard.requests).toEqual(['/api/version', '/nodes?view=summary']);
});

it('knows the least memory that a worker may get', () => {
  const node = (cpus: number, memory?: number, ...gpus: readonly number[]) => ({
    ...{ host: 'a', cpus, memory },
    gpus: gpus.map((size) => ({ name: `card of ${size}`, memory: size })),
  });
  const of = (isOnGpu: boolean, workers: number, ...nodes: readonly ReturnType<typeof node>[]) =>
    workerMemory({ version: '2.60.0', nodes }, { workers, isOnGpu });
  const nodes = [node(0, 5), node(2, 100), node(8, 120, 80, 40)];
  expect(of(true, 2, ...nodes)).toEqual({ gpu: 'card of 40', memory: 40 });
  expect(of(false, 1, ...nodes)).toEqual({ gpu: null, memory: 100 });
  // Ray may put four workers on the larger node, and no more than two on the smaller one.
  expect(of(false, 4, ...nodes)).toEqual({ gpu: null, memory: 30 });
  expect(of(false, 1, node(4))).toEqual({ gpu: null, memory: null });
  expect(of(true, 1, node(4))).toEqual({ gpu: 'GPU', memory: null });
});

it('says in one sentence what is wrong with an address, and what to do', async () => {
  for (const address of ['', 'head:8265', 'ftp://head', 'http://me:secret@head:8265'])
    await expect(readCluster(address)).rejects.toThrow(
      'Enter the address of the Ray dashboard, e.g. http://head:8265.',
    );
  await expect(readCluster('http://127.0.0.1:9')).rejects.toThrow(
    'No Ray dashboard answers at http://127.0.0.1:9: check the address, and that the cluster is up and was started with its dashboard.',
  );
});

it('follows no redirect, and takes no other server for a dashboard', async () => {
  const strange = (why: string) => ({
    code: 'training/no-cluster',
    message: `${dashboard.address} is not a Ray dashboard (${why}): enter the address that “ray start --head” names, usually with port 8265.`,
  });
  const { length } = dashboard.requests;
  dashboard.instead = (response) => response.writeHead(302, { location: '/api/other' }).end();
  expect(await refused()).toMatchObject(strange('HTTP 302'));
  expect(dashboard.requests.slice(length)).toEqual(['/api/version']);
  dashboard.instead = (response) => response.writeHead(200).end('<html>');
  expect(await refused()).toMatchObject(strange('it is not JSON'));
  dashboard.instead = (response) => response.writeHead(200).end('{"version":"4"}');
  expect(await refused()).toMatchObject(strange('its fields are others'));
});
