import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { lastEvent } from '../../src/core/training/eventFile';
import { stopRun } from '../../src/core/training/lifecycle';
import { runFiles } from '../../src/core/training/runFolder';
import { Runs, type Run } from '../../src/core/training/runs';
import { look } from '../../src/core/trajectory/heartbeat';
import { collectLog, untilRun } from '../fixtures/trainer';
import { trainersPython } from './python';

// These tests run the command line with the real trainer on a real Ray cluster of two nodes, in a network namespace of
// their own (trainer/tests/ray_cluster.py). How the steps of such a run compare with those of one process, and what
// becomes of it without its nodes, is tested by trainer/tests/test_cluster.py.

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-ray-'));
const data = path.join(folder, '.tandem');
const runs = new Runs(data);

/** The process that holds the cluster; it ends with its standard input. */
let cluster: { readonly address: string; readonly process: ReturnType<typeof spawn> } | undefined;

beforeAll(async () => {
  const python = (process.env.TANDEM_TRAINER_PYTHON ??= await trainersPython());
  await collectLog(data);
  const log = path.join(folder, 'ray.txt');
  const errors = openSync(log, 'w');
  const script = `exec ${python} trainer/tests/ray_cluster.py`;
  const child = spawn('unshare', ['--user', '--map-root-user', '--net', 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', errors],
    env: { ...process.env, RAY_USAGE_STATS_ENABLED: '0' },
  });
  closeSync(errors);
  for await (const address of createInterface(child.stdout!)) {
    cluster = { address, process: child };
    return;
  }
  throw new Error(
    `There is no Ray cluster, which needs Linux with user namespaces: ${readFileSync(log, 'utf8')}`,
  );
});

afterAll(async () => {
  cluster?.process.stdin!.end();
  if (cluster?.process.exitCode === null) await once(cluster.process, 'exit');
  await rm(folder, { recursive: true, force: true });
});

/** Runs the command line in the namespace of the cluster, and so all that it starts. */
async function tandem(...args: readonly string[]): Promise<string> {
  const inside = ['--target', String(cluster!.process.pid), '--user', '--net', '--preserve-credentials'];
  const command = [...inside, process.execPath, 'dist/tandem.js', ...args];
  const { stdout } = await promisify(execFile)('nsenter', command);
  return stdout;
}

const until = (id: string, is: (run: Run) => boolean): Promise<Run> => untilRun(() => runs.find(id), is);

/** Writes a configuration for the cluster, and returns its file. */
async function onCluster(): Promise<string> {
  const file = path.join(folder, 'on-cluster.json');
  await writeFile(path.join(folder, 'short.md'), '{{description}}');
  const configuration = {
    method: 'multiturn-dpo',
    model: { base: path.resolve('media/starter'), device: 'cpu', lora_rank: 2 },
    data: { log: '.tandem', held_out: 0.4, opening: 'short.md', pairing: 'all' },
    policy: { learning_rate: 1e-2, batch: 2, patience: 0, evaluate_every: 1000, epochs: 1e5 },
    resources: {
      ...{ token_budget: 4096, checkpoint_activations: false, threads: 1, checkpoint_minutes: 0 },
      cluster: { address: cluster!.address, workers: 2, storage: folder },
    },
  };
  await writeFile(file, JSON.stringify(configuration));
  return file;
}

const launched = async (id: string) =>
  z
    .object({ pid: z.number(), isOnCluster: z.boolean(), command: z.array(z.string()) })
    .parse(JSON.parse(await readFile(path.join(runs.folder, id, 'launch.json'), 'utf8')));

it('trains a run on the cluster that its configuration names, stops it there, resumes it, and ends it at once', async () => {
  await tandem('train', await onCluster(), '--data', data);
  const [{ id }] = (await runs.list()) as [Run];
  const begun = await until(id, ({ progress }) => (progress?.step ?? 0) >= 1);
  expect(begun).toMatchObject({ state: 'running', isLive: true });
  expect(begun.process!.host).toContain(`in the Ray cluster at ${cluster!.address}`);
  expect(await lastEvent(path.join(begun.folder, runFiles.events), 'nodes')).toMatchObject({
    asked: 2,
    nodes: [
      { workers: 1, state: 'works', gpus: [] },
      { workers: 1, state: 'works', gpus: [] },
    ],
  });
  const { command, isOnCluster, pid } = await launched(id);
  expect(isOnCluster).toBe(true);
  expect(command.slice(-3, -1)).toEqual(['tandem_trainer', 'cluster']);

  expect(await stopRun(runs, id)).toMatchObject({ state: 'stopped', canResume: true });
  while ((await look(pid)) !== 'gone') await wait(50);
  const { step } = (await runs.find(id)).progress!.latest!;

  await tandem('resume', id, '--data', data);
  await until(id, ({ progress }) => (progress?.step ?? 0) > step);
  const resumed = await launched(id);
  expect(await stopRun(runs, id, { atOnce: true })).toMatchObject({ state: 'stopped', canResume: true });
  while ((await look(resumed.pid)) !== 'gone') await wait(50);
  const log = await readFile(path.join(runs.folder, id, 'trainer.log'), 'utf8');
  expect(log.match(/(?<=^Ray job .*: )[A-Z]+$/gm)).toEqual(
    expect.arrayContaining(['RUNNING', 'SUCCEEDED', 'RUNNING', 'STOPPED']),
  );
});

it('looks at each node of the cluster, and at the folder that they share', async () => {
  const { rows, summary } = z
    .object({
      rows: z.array(z.object({ name: z.string(), saw: z.string() })),
      summary: z.object({ failed: z.number() }),
    })
    .parse(JSON.parse(await tandem('doctor', '--cluster', cluster!.address, '--storage', folder, '--json')));
  expect(summary.failed).toBe(0);
  const of = (what: string) => rows.filter(({ name }) => name.endsWith(` ${what}`)).map(({ saw }) => saw);
  const each = (pattern: string): unknown[] => Array<unknown>(2).fill(expect.stringMatching(pattern));
  expect(of('versions')).toEqual(each('the trainer of this machine$'));
  expect(of('storage')).toEqual(each(`free in ${folder}, written at [0-9,]+ MB/s$`));
  expect(of('network')).toEqual(each('^[0-9,]+ MB/s to '));
});

it('writes how a cluster is started for a run that is prepared, and needs no number of machines', async () => {
  const before = (await runs.list()).length;
  const refused = tandem('train', await onCluster(), '--print-launch', '--nodes', '2', '--data', data);
  await expect(refused).rejects.toThrow('--nodes is for torchrun, but resources.cluster is set');
  expect(await runs.list()).toHaveLength(before);
  const printed = await tandem('train', await onCluster(), '--print-launch', '--data', data);
  const [{ id, state }] = (await runs.list()) as [Run];
  expect(state).toBe('stopped'); // prepared, and never started
  const command = `-m tandem_trainer cluster ${path.join(runs.folder, id, 'run.json')}`;
  expect(printed.split('\n').filter((line) => line.endsWith(command))).toHaveLength(3);
});
