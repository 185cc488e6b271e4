import { mkdtempSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { Runs, type Run } from '../../src/core/training/runs';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { HeldTrainer } from '../fixtures/held-trainer';
import { untilRun } from '../fixtures/trainer';
import { json, tandem } from '../process/cli/tandem';
import { trainersPython } from './python';

// These tests run the command line with the real trainer, the real TRL and the starter model.

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-grpo-'));
const data = path.join(folder, '.tandem');
const runs = new Runs(data);
const pack = path.resolve('samples/workspace/starter-world.jsonl');

const STEPS = 4;
const configuration = {
  model: { base: path.resolve('media/starter'), training: 'full', device: 'cpu' },
  method: 'grpo',
  data: { tasks: [pack] },
  grpo: {
    ...{ dialogues: 8 * STEPS, tasks_per_step: 2, group: 4, learning_rate: 3e-4, evaluate_every: 2 },
    ...{ max_turns: 4, max_new_tokens: 96 },
  },
  // With a checkpoint after every step, a kill loses nothing.
  resources: { threads: 1, checkpoint_minutes: 0 },
  export: { onnx: ['fp32'] },
};

/** The run that the second test holds. */
let touched = '';
let trainer: HeldTrainer;

beforeAll(async () => {
  const python = process.env.TANDEM_TRAINER_PYTHON ?? (await trainersPython());
  trainer = new HeldTrainer(python, () => runs.find(touched));
  Object.assign(process.env, trainer.environment);
});

afterAll(async () => {
  trainer.dispose();
  await rm(folder, { recursive: true, force: true });
});

const summary = z.object({
  summary: z.object({ id: z.string(), folder: z.string(), state: z.string(), isLive: z.boolean() }),
});

async function start(changes: object = {}): Promise<string> {
  const file = path.join(folder, 'run.json');
  await writeFile(file, JSON.stringify({ ...configuration, ...changes }));
  const { summary: run } = await json(summary, 'train', file, '--data', data);
  return run.id;
}

const until = (id: string, is: (run: Run) => boolean): Promise<Run> => untilRun(() => runs.find(id), is);

/** Returns whether anything listens where the run's last server listened. */
async function isServed({ folder: run }: Run): Promise<boolean> {
  const log = await readFile(path.join(run, 'trainer.log'), 'utf8');
  const port = Number(/.*http:\/\/127\.0\.0\.1:(\d+);/s.exec(log)![1]);
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

const model = (run: Run): Promise<Buffer> => readFile(path.join(run.folder, 'model', 'model.safetensors'));

async function eventsOf(run: Run) {
  const lines = (await readFile(path.join(run.folder, 'events.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => z.looseObject({ event: z.string() }).parse(JSON.parse(line)));
}

const isDone = ({ state, isLive }: Run): boolean => state === 'done' && !isLive;

/** A run that nobody interrupts, made by the first test. */
let straight: Run | undefined;

it('a run of GRPO has the figures of its dialogues and no server afterwards, and the model that it makes plays', async () => {
  const run = await until(await start(), isDone);
  straight = run;
  expect(await isServed(run)).toBe(false);
  const events = await eventsOf(run);
  const steps = events.filter(({ event }) => event === 'step');
  expect(steps.at(-1)).toMatchObject({ step: STEPS, steps: STEPS, dialogues: 8 * STEPS });
  const share = z.number().min(0).max(1);
  for (const step of steps) z.looseObject({ reward: share, success: share, kl: z.number() }).parse(step);
  const measured = events.filter(({ event }) => event === 'evaluation');
  for (const one of measured) z.looseObject({ reward: share, success: share }).parse(one);
  expect(new Set(measured.map(({ step }) => step))).toEqual(new Set([0, 2, 4]));

  const agent = `local:${path.join(run.folder, 'model')}`;
  const { code, stdout, stderr } = await tandem(
    ...['evaluate', '--agent', agent, '--tasks', pack, '--limit', '2', '--simulator', 'rules', '--json'],
    ...['--max-tokens', '96', '--data', path.join(folder, 'evaluation')],
  );
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('"success');
});

it('a run of GRPO is stopped, resumed, killed and resumed, and ends as one that nobody touched; no server is left behind', async () => {
  trainer.holdAt(/^step \S+ 1$/);
  const id = await start({ grpo: { ...configuration.grpo, log: data } });
  touched = id;
  await trainer.isHeld();
  const asked = json(summary, 'stop', id, '--data', data);
  await expect
    .poll(() =>
      stat(path.join(data, 'runs', id, 'stop')).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await trainer.release();
  expect((await asked).summary).toMatchObject({ state: 'stopped', isLive: false });
  const stopped = await runs.find(id);
  expect(await isServed(stopped)).toBe(false);
  const at = stopped.progress!.latest!.step;
  expect(at).toBeLessThan(STEPS);

  trainer.holdAt(new RegExp(`^step \\S+ ${at + 1}$`));
  await json(summary, 'resume', id, '--data', data);
  await trainer.isHeld();
  const live = await runs.find(id);
  expect(await isServed(live)).toBe(true);
  process.kill(live.process!.pid, 'SIGKILL');
  await expect.poll(() => isServed(live)).toBe(false);

  await trainer.release();
  await json(summary, 'resume', id, '--data', data);
  const done = await until(id, isDone);
  expect((await model(done)).equals(await model(straight!))).toBe(true);

  // What was played is in the log, under the name of the run.
  const log = await TrajectoryLog.open(data);
  const played = log.count({ agent: `grpo-${id}` }).total;
  await log.close();
  expect(played).toBeGreaterThanOrEqual(8 * STEPS);
});

it('a run with turn credit counts its rollouts, and one that was killed ends as one that nobody touched', async () => {
  const changes = {
    grpo: { ...configuration.grpo, dialogues: 16, credit: 'vine', vine_samples: 2 },
    export: { onnx: [] },
  };
  const untouched = await until(await start(changes), isDone);
  const [last] = (await eventsOf(untouched)).filter(({ event }) => event === 'step').slice(-1);
  const counts = z.looseObject({ dialogues: z.literal(16), rollouts: z.int(), rollout_tokens: z.int() });
  const { rollouts, rollout_tokens: tokens } = counts.parse(last);
  // Two from the beginning of each task's dialogues, at least, and two from each history after it.
  expect(rollouts).toBeGreaterThanOrEqual(2 * 4);
  expect(tokens).toBeGreaterThan(rollouts);

  trainer.holdAt(/^step \S+ 2$/);
  touched = await start(changes);
  await trainer.isHeld();
  process.kill((await runs.find(touched)).process!.pid, 'SIGKILL');
  await until(touched, ({ isLive }) => !isLive);
  await trainer.release();
  await json(summary, 'resume', touched, '--data', data);
  const done = await until(touched, isDone);
  expect((await model(done)).equals(await model(untouched))).toBe(true);
});

it('a run of GRPO for the collaborator plays with an agent that does not learn', async () => {
  const grpo = { ...configuration.grpo, dialogues: 16, evaluate_every: 9, agent: 'starter', log: data };
  const run = await until(await start({ role: 'collaborator', grpo }), isDone);
  expect(await isServed(run)).toBe(false);
  expect((await model(run)).length).toBeGreaterThan(0);
  const log = await TrajectoryLog.open(data);
  const played = log.count({ agent: 'starter', collaborator: `grpo-${run.id}` }).total;
  await log.close();
  expect(played).toBeGreaterThanOrEqual(16);
});
