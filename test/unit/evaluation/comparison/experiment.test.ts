import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { differencesOf, RunReader } from '../../../../src/core/evaluation/comparison/experiment';
import { baselineComparisonsOf } from '../../../../src/core/evaluation/comparison/untrainedBaseline';
import { distance, seenBy, unseen, worldOfRun } from '../../../../src/core/evaluation/comparison/heldOut';
import { keep, keptOf } from '../../../../src/core/evaluation/loop/evaluationCache';
import { portable, writeReport } from '../../../../src/core/evaluation/comparison/report';
import { measuredRunsOf } from '../../../../src/core/evaluation/comparison/measuredRuns';
import type { ModelResult } from '../../../../src/core/evaluation/loop/evaluationCache';
import { measuredTable } from '../../../../src/core/evaluation/report/comparison';
import { Runs, type Run } from '../../../../src/core/training/runs';
import { parseProgram } from '../../../../src/core/task/row';
import { played, setting } from './played';

const at = '2026-11-20T22:00:00.000Z';
const taskRow = (name: string): object => ({
  id: name,
  problem_description: `Add up the ${name}.`,
  ground_truth: 'def total(values):\n    return sum(values)',
  test_cases: { test1: 'total([1, 2])' },
});
const task = (name: string) => ({ task: parseProgram(taskRow(name)), pack: 'mine.jsonl' });

async function writeData(run: Run, task: object): Promise<void> {
  const row = { task, answer: 'x', reward: 1, dialogue_history: [{ role: 'agent', content: 'x' }] };
  await writeFile(path.join(run.folder, 'data', 'trajectories.jsonl'), `${JSON.stringify(row)}\nnot a row\n`);
}

const none = [0, 0, 0, 0, 0, 0, 0, 0];
const half = [1, 1, 1, 1, 0, 0, 0, 0];
const all = [1, 1, 1, 1, 1, 1, 1, 1];

let workspace: string;
let runs: Runs;

/** Creates a run's folder as Tandem and the trainer leave it. */
async function makeRun(id: string, configuration: object, events: readonly object[] = []): Promise<Run> {
  const folder = path.join(workspace, '.tandem', 'runs', id);
  await mkdir(path.join(folder, 'data'), { recursive: true });
  await writeFile(path.join(folder, 'run.json'), JSON.stringify(configuration));
  const lines = events.map((event) => `${JSON.stringify({ version: 1, at, ...event })}\n`);
  await writeFile(path.join(folder, 'events.jsonl'), lines.join(''));
  return runs.find(id);
}

beforeEach(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-experiment-'));
  runs = new Runs(path.join(workspace, '.tandem'));
});

afterEach(() => rm(workspace, { recursive: true, force: true }));

describe('configurations', () => {
  it('differ field by field; what one of them leaves out is its default', () => {
    const one = { name: 'a', method: 'sweet-rl', critic: { beta: 3, epochs: 2 }, export: { onnx: ['int8'] } };
    const other = { name: 'b', method: 'sweet-rl', critic: { epochs: 4 }, export: { onnx: [] } };
    expect(differencesOf([one, other])).toEqual([
      { field: 'critic.beta', values: ['3', undefined] },
      { field: 'critic.epochs', values: ['2', '4'] },
      { field: 'export.onnx', values: ['["int8"]', '[]'] },
    ]);
    expect(differencesOf([one, one, one])).toEqual([]);
  });

  it('have only the settings that the method of a run reads', async () => {
    const critic = { score: 'log-ratio', beta: 3 };
    const ranked = { method: 'sweet-rl', critic, policy: { epochs: 2 } };
    const imitating = { ...ranked, method: 'rft', policy: { epochs: 2, minimum_reward: 1 } };
    await makeRun('imitating', imitating);
    const reader = new RunReader(runs, 'imitating');
    const { configuration } = (await reader.read())!;
    await reader.close();
    expect(configuration).toEqual({ method: 'rft', policy: { epochs: 2, minimum_reward: 1 } });
    expect(differencesOf([ranked, configuration])).toEqual([
      { field: 'method', values: ['sweet-rl', 'rft'] },
      { field: 'critic.score', values: ['log-ratio', '–'] },
      { field: 'critic.beta', values: ['3', '–'] },
      { field: 'policy.minimum_reward', values: ['–', '1'] },
    ]);
  });
});

describe('evaluations', () => {
  it('are kept in the folder of the run, with their tasks as a pack', async () => {
    const { folder } = await makeRun('a', {});
    await keep(folder, setting('k'), [task('x'), task('y')], { model: played('a', half) });
    expect(await keptOf(folder)).toMatchObject([
      { setting: setting('k'), model: { figures: { agent: 'a' } } },
    ]);
    const pack = await readFile(path.join(folder, 'evaluations', 'k.tasks.jsonl'), 'utf8');
    expect(
      pack
        .trim()
        .split('\n')
        .map((line) => parseProgram(JSON.parse(line)).id),
    ).toEqual(['x', 'y']);
  });

  it('of one setting are paired task by task, with the start and with the first run', () => {
    const kept = (model: readonly number[], key: string, day: string) => ({
      ...{ version: 1 as const, at: day, setting: setting(key) },
      ...{ model: played('local:m', model), start: played('starter', none) },
    });
    const [latest, earlier, ...more] = measuredRunsOf([
      [kept(half, 'k', '2026-11-20'), kept(half, 'other', '2026-11-19')],
      [kept(all, 'k', '2026-11-21')],
    ]);
    expect(more).toEqual([]);
    expect(latest!.rows.map(({ run, figures: { agent } }) => [run, agent])).toEqual([
      [undefined, 'starter'],
      [0, 'local:m'],
      [1, 'local:m'],
    ]);
    expect(latest!.rows[1]).toMatchObject({ againstStart: { success: { difference: 0.5, tasks: 8 } } });
    expect(latest!.rows[1]).not.toHaveProperty('againstFirst');
    expect(latest!.rows[2]).toMatchObject({ againstFirst: { success: { difference: 0.5 } } });
    expect(earlier!.rows).toHaveLength(2);
  });

  it('show the habits of each model, and which are worse than those of its start', () => {
    const asking = (agent: string, needlessQuestions: number): ModelResult => {
      const { figures, by_task } = played(agent, none);
      return {
        figures: { ...figures, needlessQuestions, askF1: { value: 1 / needlessQuestions } },
        by_task: by_task.map((one) => ({ ...one, needlessQuestions })),
      };
    };
    const kept = { version: 1 as const, at: '2026-11-20', setting: setting('k') };
    const [measured] = measuredRunsOf([
      [{ ...kept, start: asking('starter', 1), model: asking('a', 2) }],
      [{ ...kept, model: played('old', none) }],
    ]);
    const { columns, rows } = measuredTable(measured!, ['a', 'old'], (agent) => agent);
    const at = columns.findIndex(({ name }) => name === 'needless_questions');
    expect(rows.map(({ cells }) => cells[at])).toEqual([
      { value: 1, of: 8 },
      { value: 2, of: 8, remark: { sentence: 'worse than the base model', values: [] } },
      null,
    ]);
    expect(columns.map(({ name }) => name)).not.toContain('repeated_questions');
    // It is shown where it is not worse, too.
    const askF1 = columns.findIndex(({ name }) => name === 'ask_f1');
    expect(rows.map(({ cells }) => cells[askF1])).toEqual([{ value: 1, of: 8 }, { value: 0.5, of: 8 }, null]);
  });

  it('leave out the tasks that any of the runs has in its data', async () => {
    const run = await makeRun('a', { data: { trajectories: ['data/trajectories.jsonl'] } });
    await writeData(run, taskRow('prices'));
    const seen = await seenBy([run]);
    const again = { ...task('prices'), task: { ...task('prices').task, id: 'another id' } };
    expect(unseen([again, task('weights')], seen).map((one) => one.task.id)).toEqual(['weights']);
    expect(distance([again], seen)).toBe(0);
    expect(distance([task('weights')], seen)).toBe(2);
  });

  it.each([
    ['pages-train-0123456789ab', 'pages'],
    ['questions-train-0123456789ab', 'twenty-questions'],
    ['starter-train-0123456789ab', 'functions'],
    ['prices', undefined],
  ])('tell of data with the task %s which world the run learned from', async (id, world) => {
    const run = await makeRun('a', { data: { trajectories: ['data/trajectories.jsonl'] } });
    await writeData(run, { ...taskRow('prices'), id });
    expect(await worldOfRun(run)).toBe(world);
  });
});

it.each([
  [[], { untrainedAccuracy: null, pairs: null, gains: null }],
  [
    [
      { event: 'control', stage: 'critic', accuracy: 0.55, examples: 20 },
      {
        ...{ event: 'gains', stage: 'critic', dialogues: 9, rank_correlation: 0.4, low: 0.1, high: 0.7 },
        untrained_rank_correlation: -0.1,
      },
    ],
    {
      ...{ untrainedAccuracy: 0.55, pairs: 20 },
      gains: { mean: 0.4, low: 0.1, high: 0.7, dialogues: 9 },
    },
  ],
])(
  'puts the untrained score beside each critic, also of runs that do not tell all of it',
  async (told, control) => {
    const run = await makeRun('a', {}, [
      ...told,
      { event: 'evaluation', stage: 'critic', step: 10, accuracy: 0.7, best: true },
      { event: 'evaluation', stage: 'critic', step: 20, accuracy: 0.6 },
      {
        ...{ event: 'ranking', stage: 'ranking', histories: 5, candidates: 40 },
        ...{ rank_correlation: -0.1, spread: 0.2, untrained_spread: 0.3 },
      },
      // A long training has more evaluations than the view can show.
      ...Array.from({ length: 600 }, (_, look) => ({
        event: 'evaluation',
        stage: 'policy',
        step: 25 * look,
      })),
    ]);
    const reader = new RunReader(runs, run.id);
    const { history } = (await reader.read())!;
    await reader.close();
    expect(baselineComparisonsOf(history)).toEqual([
      {
        ...{ stage: 'ranking', histories: 5, candidates: 40, accuracy: 0.7 },
        ...{ correlation: -0.1, spread: 0.2, untrainedSpread: 0.3 },
        ...control,
      },
    ]);
  },
);

describe('what leaves the machine', () => {
  it.each([
    ['/home/me/shop/.tandem/runs/a/run.json', '.tandem/runs/a/run.json'],
    ['/srv/models/secret-project/llama', '…/llama'],
    ['C:\\Users\\me\\models\\llama', '…/llama'],
    ['local:/home/me/shop/models/mine', 'local:models/mine'],
    ['openai:gpt@https://me:key@host/v1?token=x', 'openai:gpt@https://host/v1'],
    ['Qwen/Qwen2.5-1.5B-Instruct', 'Qwen/Qwen2.5-1.5B-Instruct'],
  ])('of %s is %s', (text, shown) => {
    expect(portable(text, '/home/me/shop')).toBe(shown);
  });
});

describe('a report', () => {
  const step = (stage: string, number: number): object => ({
    ...{ event: 'step', stage, step: number, steps: 20, loss: 1 / number, accuracy: 0.5 + number / 50 },
  });
  const events = [
    ...Array.from({ length: 20 }, (_, index) => step('critic', index + 1)),
    { event: 'evaluation', stage: 'critic', step: 10, accuracy: 0.7, loss: 0.5, best: true },
    ...Array.from({ length: 20 }, (_, index) => step('policy', index + 1)),
  ];

  it('has results, differences, pictures and commands, and nothing of this machine', async () => {
    const base = path.join(path.dirname(workspace), 'private', 'starter');
    const of = [
      await makeRun(
        '20261120-1',
        { name: 'first', method: 'sweet-rl', model: { base }, critic: { beta: 3 } },
        events,
      ),
      await makeRun('20261120-2', { name: 'second', method: 'sweet-rl', model: { base } }, [
        ...events,
        { event: 'result', ended: { stage: 'policy', step: 20, steps: 1000 } },
        { event: 'state', state: 'done', stage: 'export' },
      ]),
    ];
    await keep(of[0]!.folder, setting('k'), [task('x')], {
      ...{ model: played('local:.tandem/runs/20261120-1/model', half), start: played('starter', none) },
    });
    await keep(of[1]!.folder, setting('k'), [task('x')], {
      ...{ model: played('local:.tandem/runs/20261120-2/model', all), start: played('starter', none) },
    });
    const file = path.join(workspace, 'reports', 'of two.md');
    const third = await makeRun('20261120-3', { name: 'third' }, []);
    await mkdir(path.join(third.folder, 'model', 'onnx'), { recursive: true });
    of.push(third);
    await writeReport(file, { runs, of, names: ['first', 'second', 'third'], workspace });
    const page = await readFile(file, 'utf8');
    expect(page).toContain('| third | not evaluated |');
    expect(page).toContain('--agent local:.tandem/runs/20261120-3/model');
    expect(page).toContain('| second | 100.0 % \\[70.0, 100.0\\] | +100.0 \\[');
    expect(page).toContain('| done, ended at step 20 of 1,000 of policy |');
    expect(page).toContain('| critic.beta | 3 | default | default |');
    expect(page).toContain('tandem train .tandem/runs/20261120-1/run.json --data .tandem --follow');
    expect(page).toContain('tandem evaluate --tasks .tandem/runs/20261120-1/evaluations/k.tasks.jsonl');
    expect(page).toContain('![Learning curves of the stage critic](of%20two-pictures/critic.svg)');
    for (const secret of [workspace, os.tmpdir(), os.hostname(), 'private'])
      expect(page).not.toContain(secret);
    for (const name of ['critic', 'policy', 'success-k']) {
      const svg = await readFile(path.join(workspace, 'reports', 'of two-pictures', `${name}.svg`), 'utf8');
      expect(svg).toMatch(/^<svg/);
    }
  });

  it('writes over its own pictures, and over nothing that somebody else has put where they go', async () => {
    const run = await makeRun('a', {}, events);
    const file = path.join(workspace, 'notes.md');
    const write = (): Promise<void> => writeReport(file, { runs, of: [run], names: ['a'], workspace });
    const folder = path.join(workspace, 'notes-pictures');
    await mkdir(path.join(folder, 'holiday'), { recursive: true });
    await writeFile(path.join(folder, 'mine.svg'), '<svg></svg>');
    await write();
    expect(await readFile(file, 'utf8')).toContain('](notes-pictures/critic.svg)');

    await makeRun('a', {}, events.slice(0, 20));
    await write();
    expect((await readdir(folder)).sort()).toEqual(['critic.svg', 'holiday', 'mine.svg']);

    await writeFile(path.join(folder, 'critic.svg'), '<svg></svg>');
    await write();
    expect(await readFile(file, 'utf8')).toContain('](notes-pictures-2/critic.svg)');
    expect(await readFile(path.join(folder, 'critic.svg'), 'utf8')).toBe('<svg></svg>');
  });
});
