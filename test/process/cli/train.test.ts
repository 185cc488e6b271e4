import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { mayFinish } from '../../../src/core/training/lifecycle';
import { Runs, type Run } from '../../../src/core/training/runs';
import { countData } from '../../../src/core/training/data/countData';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { collectLog, realTrainer, tinyModel, untilRun } from '../../fixtures/trainer';
import { json, tandem } from './tandem';

// These tests use the real trainer, a real log and a model with random weights; each command is a process of its own.

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-train-'));
const data = path.join(folder, '.tandem');
const file = path.join(folder, 'mine.json');

const runSchema = z.object({
  id: z.string(),
  folder: z.string(),
  name: z.string(),
  state: z.string(),
  isLive: z.boolean(),
});

const stage = { learning_rate: 1e-2, batch: 1, patience: 0, evaluate_every: 1000 };
const configuration = {
  name: 'tiny',
  model: { base: 'base', device: 'cpu', lora_rank: 2 },
  data: { log: '.tandem', held_out: 0.4, opening: 'short.md' },
  critic: { ...stage, epochs: 1, max_steps: 2 },
  candidates: { per_turn: 2, pairs_per_turn: 1, trajectories: 0.1, max_new_tokens: 4 },
  policy: { ...stage, epochs: 1, max_steps: 2 },
  resources: { token_budget: 4096, checkpoint_activations: false, threads: 1 },
};

beforeAll(async () => {
  realTrainer();
  await Promise.all([tinyModel(path.join(folder, 'base')), collectLog(data)]);
  await writeFile(file, JSON.stringify(configuration));
  await writeFile(path.join(folder, 'short.md'), '{{description}}');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const summary = z.object({ summary: runSchema });

/** Returns the newest run as another process sees it. */
async function theRun(): Promise<Run> {
  const [run] = await new Runs(data).list();
  return run!;
}

const until = (is: (run: Run) => boolean): Promise<Run> => untilRun(theRun, is);

const dataSchema = z.looseObject({ data: z.looseObject({}) });
const begunSchema = z.looseObject({ configuration: dataSchema });

/** Rewrites a run's data to an older version's: they name the log, and there are no rows. */
async function makeOlder(run: string): Promise<void> {
  const older = async (name: string, change: (written: unknown) => object): Promise<void> => {
    const about = path.join(run, name);
    await writeFile(about, JSON.stringify(change(JSON.parse(await readFile(about, 'utf8')))));
  };
  const ofLog = (value: unknown): object => {
    const written = dataSchema.parse(value);
    return { ...written, data: { ...written.data, log: data, trajectories: [] } };
  };
  await older('run.json', ofLog);
  await older('configuration.json', (value) => {
    const written = begunSchema.parse(value);
    return { ...written, configuration: ofLog(written.configuration) };
  });
  await rm(path.join(run, 'data'), { recursive: true });
}

/** Counts the dialogues of a log that may be trained on, by its fold. */
async function folded(dataFolder: string): Promise<object> {
  const log = await TrajectoryLog.open(dataFolder);
  const counts = await countData(log, { log: dataFolder }, { pairing: 'paper' });
  await log.close();
  const { trajectories, tasks, successes, turns } = counts;
  return { trajectories, tasks, successes, turns };
}

interface Begun {
  readonly child: ChildProcess;
  /** Waits until its stderr contains a text. */
  readonly says: (text: string) => Promise<void>;
  /** Resolves to its exit code, null when it was killed. */
  readonly ended: Promise<number | null>;
}

/** Starts a command that runs while the test continues. */
function begun(...args: string[]): Begun {
  const child = spawn(process.execPath, ['dist/tandem.js', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
  const says = async (text: string): Promise<void> => {
    while (!said.includes(text)) {
      if (child.exitCode !== null) throw new Error(`It ended without saying "${text}": ${said}`);
      await wait(20);
    }
  };
  return { child, says, ended };
}

describe('tandem train', () => {
  it('starts a run that outlives its launcher, stops, resumes, is killed, resumes, and is asked to finish', async () => {
    const endless = {
      ...configuration,
      method: 'rft',
      policy: { ...stage, epochs: 1e5 },
      // With a checkpoint after every step, a kill loses nothing.
      resources: { ...configuration.resources, checkpoint_minutes: 0 },
    };
    await writeFile(path.join(folder, 'endless.json'), JSON.stringify(endless));

    const launcher = begun('train', path.join(folder, 'endless.json'), '--data', data, '--follow');
    await launcher.says('policy: running');
    launcher.child.kill('SIGKILL');
    await launcher.ended;
    const { id, selection } = await until(({ progress }) => (progress?.step ?? 0) > 0);
    expect(selection).toMatchObject({ trajectories: 12, left_out: {}, other_prompts: 12 });
    const { turns, shortages, policy } = selection!.trained_on!;
    expect(shortages).toMatchObject([
      { kind: 'successes', have: policy.train, enough: 140 },
      { kind: 'token_ids', have: 0, enough: turns },
    ]);

    const onlooker = begun('runs', id, '--data', data, '--follow');
    await onlooker.says('policy: running');
    onlooker.child.kill('SIGINT');
    await onlooker.says('Detached: the run goes on.');
    expect(await onlooker.ended).toBe(0);
    expect((await theRun()).isLive).toBe(true);

    const stopped = await json(summary, 'stop', id, '--data', data);
    expect(stopped.summary).toMatchObject({ state: 'stopped', isLive: false });

    const resumed = await json(summary, 'resume', id.slice(-4), '--data', data);
    expect(resumed.summary).toMatchObject({ id, isLive: true });
    const again = await tandem('resume', id, '--data', data);
    expect(again.code).toBe(2);

    const { process: trainer } = await until(({ state }) => state === 'running');
    process.kill(trainer!.pid, 'SIGKILL');
    const told = await tandem('runs', id, '--data', data, '--follow');
    expect(told.stdout).toContain(`Its trainer (process ${trainer!.pid}) ended without saying so`);
    expect(told.stdout).toContain(`tandem resume ${id}`);
    expect(told.code).toBe(1);
    const dead = await theRun();

    // This imitates a run of an older version, whose trainer read the log itself.
    await makeOlder(dead.folder);
    await tandem('resume', id, '--data', data);
    expect(JSON.parse(await readFile(path.join(dead.folder, 'run.json'), 'utf8'))).toMatchObject({
      data: { trajectories: ['data/trajectories.jsonl'], held_out: 0.4 },
    });
    await until(mayFinish);
    const done = await json(summary, 'stop', id, '--finish', '--data', data);
    expect(done.summary).toMatchObject({ id, state: 'done', isLive: false });
    expect(await readdir(path.join(done.summary.folder, 'model'))).toContain('config.json');
    expect((await tandem('runs', id, '--data', data)).stdout).toMatch(
      /: done\. It was ended at step [\d,]+ of /,
    );
  });

  it('follows a run to its end, with its last step on stderr and one object on stdout', async () => {
    const { stdout, stderr, code } = await tandem('train', file, '--data', data, '--follow', '--json');
    expect(stderr).toContain('Data: 12 trajectories of 6 tasks, 3 of them successes.');
    expect(stderr).toMatch(/policy 2\/2: accuracy/);
    expect(summary.parse(JSON.parse(stdout)).summary).toMatchObject({ state: 'done' });
    expect(code).toBe(0);
    const { rows } = await json(z.object({ rows: z.array(runSchema) }), 'runs', '--data', data);
    expect(rows.map(({ state }) => state)).toEqual(['done', 'done']);
    for await (const event of new Runs(data).follow(rows[0]!.id))
      if (event.event === 'data') expect(event).toMatchObject(await folded(data));
    expect((await tandem('runs', '--data', data)).stdout).toMatch(
      /^\d{8}-\d{6}-\w{4} +done +export .* sweet-rl +tiny$/m,
    );
  });

  it('refuses what the trainer refuses with exit code 2, and leaves nothing', async () => {
    const bad = path.join(folder, 'bad.json');
    await writeFile(bad, JSON.stringify({ ...configuration, model: { base: './nowhere' } }));
    const elsewhere = path.join(folder, 'refused');
    const { code, stderr } = await tandem('train', bad, '--data', elsewhere);
    expect(stderr).not.toContain('Traceback');
    expect(code).toBe(2);
    expect(await readdir(path.join(elsewhere, 'runs')).catch(() => [])).toEqual([]);
  });

  it('plans a run and keeps nothing of it', async () => {
    const elsewhere = path.join(folder, 'planned');
    const shortage = z.object({ kind: z.string() });
    const planned = z.object({
      seconds: z.looseObject({ critic: z.number() }),
      data: z.looseObject({ shortages: z.array(shortage) }),
    });
    const asked = ['train', file, '--data', elsewhere, '--plan'];
    const { summary: told } = await json(z.object({ summary: z.object({ plan: planned }) }), ...asked);
    expect(told.plan.data).toMatchObject(await folded(data));
    expect(told.plan.data.shortages.map(({ kind }) => kind)).toContain('token_ids');
    expect(await readdir(path.join(elsewhere, 'runs'))).toEqual([]);
  });
});

describe('tandem doctor', () => {
  it('looks at the machine with the trainer’s own checks, and says whether numpy answers can be graded', async () => {
    const schema = z.object({
      rows: z.array(z.record(z.string(), z.string())),
      summary: z.object({ python: z.string(), failed: z.number() }),
    });
    vi.stubEnv('TANDEM_PYTHON', path.join(folder, 'no-such-python'));
    const { rows, summary } = await json(schema, 'doctor');
    vi.unstubAllEnvs();
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['python', 'torch', 'device']));
    expect(summary).toMatchObject({ python: process.env.TANDEM_TRAINER_PYTHON, failed: 0 });
    expect(rows.find(({ name }) => name === 'numpy answers')).toMatchObject({
      status: 'warning',
      saw: expect.stringMatching(/^not gradable here\. /) as string,
      remedy: expect.stringMatching(/./) as string,
    });
  });
});
