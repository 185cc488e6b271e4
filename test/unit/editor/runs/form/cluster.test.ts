import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  ClusterCheck,
  clusterView,
  filledCluster,
  type ClusterState,
} from '../../../../../src/editor/runs/form/cluster';
import {
  addressOf,
  filled,
  valuesOf,
  type Form,
  type FormContext,
} from '../../../../../src/editor/runs/form/configuration';
import { formView } from '../../../../../src/editor/runs/form/view';
import { parseConfiguration } from '../../../../../src/core/training/configuration';
import type { Values } from '../../../../../webview/newRun/protocol';
import { RayDashboard } from '../../../../fixtures/ray-dashboard';
import { waitForServers } from '../../../../fixtures/unhurried';

vi.mock('vscode', () => import('../../vscode'));

waitForServers();

const H100 = 'NVIDIA H100 80GB HBM3';
const node = (host: string, names: readonly string[] = []) => ({
  ...{ host, cpus: 8, memory: 2 ** 34 },
  gpus: names.map((name) => ({ name, memory: 80 * 2 ** 30 })),
});
const answers = (...nodes: readonly ReturnType<typeof node>[]): ClusterState => ({
  state: 'answers',
  cluster: { version: '2.60.0', nodes },
});
const onGpus = answers(node('head'), node('a', [H100, H100]), node('b', [H100, H100]));
const onCpus = answers(node('head'), node('a'));

const address = { 'resources.cluster.address': ' http://head:8265 ' };
const read = (values: Values, known: ClusterState, copied: Values = {}) =>
  filledCluster(values, { copied, device: 'auto' }, known);
const shown = (values: Values, known: ClusterState) => clusterView(read(values, known), values, known);

const context = (cluster: ClusterState): FormContext => ({
  recommended: { model: { base: '/models/starter' }, data: {}, resources: { processes: 2, threads: 4 } },
  dataFolder: '/project/.tandem',
  name: (method) => `${method} #4`,
  cluster,
});
const resourcesOf = (form: Form, cluster: ClusterState = onGpus): unknown =>
  filled(form, context(cluster)).configuration.resources;
const starter = { base: '/models/starter' };

it('a run on this machine has no cluster in its configuration', () => {
  expect(resourcesOf({ values: { ...starter, ...address } })).toEqual({ processes: 2, threads: 4 });
});

it('a run on a cluster takes all its GPUs, or else a worker on each node, where nothing is set', async () => {
  const form = { values: { ...starter, ...address, where: 'cluster' } };
  const workers = (count: number, each: number) => ({
    threads: 4,
    cluster: { address: 'http://head:8265', workers: count, gpus_per_worker: each },
  });
  expect(resourcesOf(form)).toEqual(workers(4, 1));
  expect(resourcesOf(form, onCpus)).toEqual(workers(2, 0));
  expect(resourcesOf(form, { state: 'checking' })).toEqual(workers(1, 0));
  // A model that is trained on processors needs no GPU.
  expect(resourcesOf({ values: { ...form.values, 'model.device': 'cpu' } })).toEqual(workers(3, 0));
  const { configuration, errors } = filled(form, context(onGpus));
  expect(errors).toEqual({});
  await parseConfiguration(configuration, { from: 'the form', folder: '/project' });
});

it('what is set stands, also in a duplicated run', () => {
  const set = { 'resources.cluster.workers': '3', 'resources.cluster.storage': '/shared' };
  expect(read({ ...address, ...set }, onGpus).configuration).toMatchObject({
    workers: 3,
    storage: '/shared',
  });
  const cluster = { address: 'http://other:8265', workers: 5, gpus_per_worker: 0, storage: null };
  const configuration = { method: 'rft', model: { base: '/m' }, data: { log: '/d' }, resources: { cluster } };
  const form = { values: valuesOf(configuration), copied: { of: 'a', data: '', configuration } };
  expect(addressOf(form)).toBe('http://other:8265');
  const { storage: _, ...kept } = cluster;
  expect(resourcesOf(form)).toEqual({ cluster: kept });
  expect(addressOf({ ...form, values: { ...form.values, where: 'here' } })).toBeUndefined();
});

it('GRPO, which trains on this machine, offers no other place', () => {
  const form = { values: { ...starter, ...address, where: 'cluster', method: 'grpo' } };
  expect(addressOf(form)).toBeUndefined();
  expect(resourcesOf(form)).toEqual({ processes: 2, threads: 4 });
  const choices = { places: [], packs: [], packFiles: [], agents: [], collaborators: [], dialogues: 12 };
  const places = (method: string): string[] =>
    formView(
      { values: { ...form.values, method } },
      { ...choices, called: (value) => value },
      { ...context(onGpus), restriction: '', recommendation: '' },
    ).view.places.map(({ value }) => value);
  expect(['grpo', 'archer', 'rft'].map(places)).toEqual([[], [], ['here', 'cluster']]);
});

it('names each field that will not do', () => {
  const wrong = {
    'resources.cluster.address': 'head:8265',
    'resources.cluster.workers': '0',
    'resources.cluster.storage': 'shared',
  };
  expect(Object.keys(read(wrong, onGpus).errors)).toEqual(Object.keys(wrong));
  const failed = { state: 'failed', sentence: 'No Ray dashboard answers.' } as const;
  expect(read(address, failed).errors).toEqual({ 'resources.cluster.address': failed.sentence });
});

it('says what the cluster has, and warns of workers without a place', () => {
  expect(shown(address, onGpus).sentence).toBe(`Ray 2.60.0, 3 nodes, 24 CPUs, 4 × ${H100}`);
  const warned = (values: Values, known: ClusterState): string[] =>
    shown({ ...address, ...values }, known).fields.flatMap(({ name, warning }) => (warning ? [name] : []));
  expect(warned({}, onGpus)).toEqual([]);
  const workers = 'resources.cluster.workers';
  expect(warned({ [workers]: '6' }, onGpus)).toEqual([workers]);
  expect(warned({ [workers]: '17' }, onCpus)).toEqual([workers]);
  const gpus = 'resources.cluster.gpus_per_worker';
  expect(warned({ [gpus]: '1' }, onCpus)).toEqual([gpus]);
});

let dashboard: RayDashboard;
beforeAll(async () => {
  dashboard = await RayDashboard.start();
});
afterAll(() => dashboard.close());

it('asks the latest address once, and again when that is wanted', async () => {
  const states: string[] = [];
  const check = new ClusterCheck(
    () => states.push(check.state.state),
    (error) => states.push(String(error)),
  );
  check.update('http://127.0.0.1:9');
  check.update(dashboard.address);
  expect(check.state).toEqual({ state: 'checking' });
  await check.settled();
  check.update(dashboard.address);
  expect(check.state).toMatchObject({ state: 'answers', cluster: { version: '2.60.0' } });
  expect(dashboard.requests).toHaveLength(2);
  dashboard.instead = (response) => response.writeHead(503).end();
  check.again();
  await check.settled();
  expect(check.state).toMatchObject({ state: 'failed' });
  expect(states).toEqual(['answers', 'checking', 'failed']);
  check.update(undefined);
  expect(check.state).toEqual({ state: 'none' });
  check.again();
  await check.settled();
  expect(dashboard.requests).toHaveLength(3);
});
