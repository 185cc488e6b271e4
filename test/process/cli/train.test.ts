import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { mayFinish } from '../../../src/core/training/finish';
import { Runs, type Run } from '../../../src/core/training/runs';
import { countData } from '../../../src/core/training/data/count';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { RayDashboard } from '../../fixtures/ray-dashboard';
import { collectLog, realTrainer, tinyModel, untilRun } from '../../fixtures/trainer';
import { tandem } from './tandem';

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

async function json<T>(schema: z.ZodType<T>, ...args: string[]): Promise<T> {
  const { stdout, stderr } = await tandem(...args, '--json');
  expect(stdout.trim().split('\n'), stderr).toHaveLength(1);
  return schema.parse(JSON.parse(stdout));
}

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
    expect(again.stderr).toMatch(new RegExp(`The run ${id} is (preparing|running), in process`));
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
    expect((await tandem('resume', id, '--data', data)).stderr).toContain(`The run ${id} is done`);
  });

  it('follows a run to its end, with its last step on stderr and one object on stdout', async () => {
    const { stdout, stderr, code } = await tandem('train', file, '--data', data, '--follow', '--json');
    expect(stderr).toContain('Data: 12 trajectories of 6 tasks, 3 of them successes.');
    expect(stderr).toMatch(/policy 2\/2: loss/);
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

  it('gives a run that is done more epochs, as another run', async () => {
    const { id, folder: before } = await theRun();
    const more = ['resume', id, '--more-epochs', '1', '--data', data, '--follow', '--json'];
    const { summary: run } = summary.parse(JSON.parse((await tandem(...more)).stdout));
    expect(run).toMatchObject({ state: 'done', name: 'tiny, continued' });
    expect(run.id).not.toBe(id);
    const steps: number[] = [];
    for await (const event of new Runs(data).follow(run.id))
      if (event.event === 'step' && event.stage === 'policy') steps.push(event.step);
    expect(steps.slice(0, 3)).toEqual([1, 2, 3]); // it has taken the first two from the run before
    expect(await readdir(path.join(before, 'model'))).toContain('config.json');
  });

  it.each([
    [
      'a field that does not exist',
      { ...configuration, critc: {} },
      'the file has no field "critc"; the nearest is "critic"',
    ],
    [
      'a model that is not there',
      { ...configuration, model: { base: './nowhere' } },
      'there is no model folder at',
    ],
    [
      'a log that is not there',
      { ...configuration, data: { log: 'nowhere' } },
      'There is no trajectory log in',
    ],
    [
      'a wrong filter',
      { ...configuration, data: { log: '.tandem', filter: { who: 'a' } } },
      'data.filter has no field "who"; the nearest is',
    ],
    ['nothing to train on', { ...configuration, data: {} }, 'data names nothing to train on'],
  ])('refuses %s with one sentence, exit code 2, and leaves nothing', async (_, value, sentence) => {
    const bad = path.join(folder, 'bad.json');
    await writeFile(bad, JSON.stringify(value));
    const elsewhere = path.join(folder, 'refused');
    const { code, stderr } = await tandem('train', bad, '--data', elsewhere);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toContain('Traceback');
    expect(stderr).not.toContain('.unfinished');
    expect(code).toBe(2);
    expect(await readdir(path.join(elsewhere, 'runs')).catch(() => [])).toEqual([]);
  });

  it('says what is wrong when there is no Python, and when it cannot write', async () => {
    for (const name of ['TANDEM_TRAINER_PYTHON', 'TANDEM_PYTHON']) vi.stubEnv(name, '');
    vi.stubEnv('PATH', folder);
    const none = await tandem('train', file, '--data', data);
    vi.unstubAllEnvs();
    expect(none.stderr).toContain('Training needs Python 3.10 or newer, and none is on the PATH');
    expect(none.code).toBe(1);
    // A wrong configuration is refused first: its sentence needs no Python.
    const wrong = path.join(folder, 'wrong.run.json');
    await writeFile(wrong, JSON.stringify({ ...configuration, critic: { batch: 0 } }));
    vi.stubEnv('TANDEM_TRAINER_PYTHON', '');
    vi.stubEnv('PATH', folder);
    const refused = await tandem('train', wrong, '--data', data);
    vi.unstubAllEnvs();
    expect(refused.stderr.trim()).toBe(`${wrong}: critic.batch must be a whole number of at least 1, not 0.`);
    expect(refused.code).toBe(2);
    const { code, stderr } = await tandem('train', file, '--data', file);
    expect(stderr).toContain(`No run can be made in ${path.join(file, 'runs')}`);
    expect(code).toBe(1);
  });

  it('plans a run and keeps nothing of it', async () => {
    const elsewhere = path.join(folder, 'planned');
    const shortage = z.object({ sentence: z.string() });
    const planned = z.object({
      seconds: z.looseObject({ critic: z.number() }),
      data: z.looseObject({ shortages: z.array(shortage) }),
    });
    const asked = ['train', file, '--data', elsewhere, '--plan'];
    const { summary: told } = await json(z.object({ summary: z.object({ plan: planned }) }), ...asked);
    expect(told.plan.data).toMatchObject(await folded(data));
    const sentences = told.plan.data.shortages.map(({ sentence }) => sentence).join('\n');
    expect(sentences).toMatch(/^The critic learns from \d+ pairs?: .* with 300; /m);
    expect(sentences).toMatch(/^\d+ pairs? held out: from 16 on, /m);
    expect(sentences).toMatch(/^25 of 25 turns come without token ids: /m);
    expect(await readdir(path.join(elsewhere, 'runs'))).toEqual([]);
  });

  it('plans a run for the workers of its cluster, and says when the cluster does not answer', async () => {
    const dashboard = await RayDashboard.start();
    dashboard.gpus = ['NVIDIA H100 80GB HBM3'];
    const cluster = path.join(folder, 'cluster.json');
    const content = JSON.parse(await readFile(file, 'utf8')) as object;
    const { address } = dashboard;
    const resources = { cluster: { address, workers: 2, gpus_per_worker: 1 } };
    await writeFile(cluster, JSON.stringify({ ...content, resources }));
    const asked = ['train', cluster, '--data', path.join(folder, 'planned'), '--plan'];
    try {
      const { stdout } = await tandem(...asked);
      expect(stdout).toMatch(/^device +NVIDIA H100 80GB HBM3, bfloat16$/m);
      expect(stdout).toMatch(/^memory .* for each of 2 processes$/m);
    } finally {
      await dashboard.close();
    }
    const { stderr, code } = await tandem(...asked);
    expect(stderr).toContain(`No Ray dashboard answers at ${address}`);
    expect(code).toBe(1);
  });
});

describe('tandem score', () => {
  it('gives every turn of the log an advantage by the critic of a run, and the untrained control', async () => {
    const { folder: run } = (await new Runs(data).list()).find(({ method }) => method === 'sweet-rl')!;
    const scored = z.object({
      rows: z.array(
        z.object({
          reward: z.number(),
          turns: z.array(z.object({ turn: z.number(), advantage: z.number(), untrained: z.number() })),
        }),
      ),
      summary: z.object({ trajectories: z.number(), turns: z.number(), file: z.string() }),
    });
    const out = path.join(folder, 'scored.jsonl');
    const asked = ['score', '--critic', path.join(run, 'critic'), '--out', out, data];
    const { rows, summary } = await json(scored, ...asked);
    expect(summary).toMatchObject({ trajectories: 12, file: out });
    expect(
      rows.filter(({ turns }) => turns.length === 1),
      'those that guess',
    ).toHaveLength(6);
    expect(summary.turns).toBe(rows.reduce((sum, { turns }) => sum + turns.length, 0));
    const again = await tandem(...asked);
    expect(again.stderr).toContain('is there already; add --overwrite');
    expect(again.code).toBe(2);
  });

  it('refuses what is no critic with one sentence', async () => {
    const { code, stderr } = await tandem('score', '--critic', path.join(folder, 'base'), data);
    expect(stderr.match(/is not an exported critic/g)).toHaveLength(1);
    expect(stderr).not.toContain('Traceback');
    expect(code).toBe(2);
  });
});

describe('tandem runs', () => {
  it('says that there are none, and refuses one that is not there', async () => {
    const none = path.join(folder, 'none');
    expect((await tandem('runs', '--data', none)).stdout).toContain('There are no runs in');
    const { code, stderr } = await tandem('runs', 'x', '--data', none);
    expect(stderr).toContain('There is no run "x"');
    expect(code).toBe(2);
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
