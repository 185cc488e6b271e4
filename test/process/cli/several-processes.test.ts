import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { stopRun } from '../../../src/core/training/lifecycle';
import { Runs } from '../../../src/core/training/runs';
import { look } from '../../../src/core/trajectory/heartbeat';
import { collectLog, realTrainer } from '../../fixtures/trainer';
import { runNode } from '../../fixtures/tasks';

// These tests use the real trainer under the real torchrun, on CPUs.

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-several-'));
const data = path.join(folder, '.tandem');

const configuration = {
  method: 'multiturn-dpo',
  model: { base: path.resolve('media/starter'), device: 'cpu', lora_rank: 2 },
  data: { log: '.tandem', held_out: 0.4, opening: 'short.md', pairing: 'all' },
  policy: { learning_rate: 1e-2, batch: 2, patience: 0, evaluate_every: 1000, epochs: 4000, max_steps: 3 },
  resources: { token_budget: 4096, checkpoint_activations: false, threads: 1, checkpoint_minutes: 0 },
};

const tandem = async (name: string, changes: object, ...args: string[]) => {
  const file = path.join(folder, name);
  await writeFile(file, JSON.stringify({ ...configuration, name, ...changes }));
  return runNode(['dist/tandem.js', 'train', file, '--data', data, ...args]);
};

// trainer/tests/test_distributed.py tests that several processes make the same steps as one.
const together = {
  resources: { ...configuration.resources, processes: 2 },
  policy: { ...configuration.policy, epochs: 1e5, max_steps: undefined },
};

beforeAll(async () => {
  realTrainer();
  await collectLog(data);
  await writeFile(path.join(folder, 'short.md'), '{{description}}');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const runs = new Runs(data);

async function losses(run: string): Promise<number[]> {
  const found: number[] = [];
  for await (const event of runs.follow(run)) if (event.event === 'step') found.push(event.loss!);
  return found;
}

const trainerPid = async (id: string): Promise<number> => {
  const about = await readFile(path.join(runs.folder, id, 'process.json'), 'utf8');
  return z.object({ pid: z.number() }).parse(JSON.parse(about)).pid;
};

it('trains with as many processes as the configuration says, goes on when one is killed, and is stopped with all', async () => {
  const started = await tandem('together', together);
  expect(started.code, started.stderr).toBe(0);
  const id = (await runs.list())[0]!.id;
  for await (const { event } of runs.follow(id)) if (event === 'step') break;
  const { pid, command, processes } = z
    .object({ pid: z.number(), command: z.array(z.string()), processes: z.number() })
    .parse(JSON.parse(await readFile(path.join(runs.folder, id, 'launch.json'), 'utf8')));
  expect(processes).toBe(2);
  expect(command.join(' ')).toContain(
    'torch.distributed.run --standalone --max-restarts 5 --nproc-per-node 2',
  );
  const first = await trainerPid(id);
  process.kill(first, 'SIGKILL');
  while ((await trainerPid(id)) === first) {
    expect(await runs.find(id)).toMatchObject({ isLive: true });
    await wait(50);
  }
  await stopRun(runs, id, { atOnce: true });
  // torchrun ends when all its processes are gone.
  while ((await look(pid)) !== 'gone') await wait(50);
  expect(await runs.find(id)).toMatchObject({ state: 'stopped', isLive: false, canResume: true });
});

it('writes the command for several machines, which trains the run when each of them runs it', async () => {
  const printed = await tandem('two machines', {}, '--print-launch', '--nodes', '2', '--json');
  expect(printed.code, printed.stderr).toBe(0);
  const { summary } = z
    .object({
      summary: z.object({ launch: z.string(), run: z.object({ id: z.string(), state: z.string() }) }),
    })
    .parse(JSON.parse(printed.stdout));
  expect(summary.run.state).toBe('stopped'); // prepared, and never started
  // The port follows from the process id and is below 32768, where systems assign no ports.
  const port = 10_000 + (process.pid % 20_000);
  const line = summary.launch.replace('--master-port 29500', `--master-port ${port}`);
  const machine = (rank: string) =>
    promisify(execFile)('sh', ['-c', line], {
      env: { ...process.env, NODE_RANK: rank, MASTER_ADDR: '127.0.0.1' },
    });
  await Promise.all([machine('0'), machine('1')]);
  expect((await runs.find(summary.run.id)).state).toBe('done');
  expect(await losses(summary.run.id)).toHaveLength(3);
});
