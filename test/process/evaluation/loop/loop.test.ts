import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { LoopProgress, LoopResult } from '../../../../src/core/evaluation/loop/plan';
import { Runs } from '../../../../src/core/training/runs';
import { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { asks, answers } from '../../../fixtures/dialogue';
import { bundled, taskRow } from '../../../fixtures/tasks';
import { anyPython } from '../../../fixtures/trainer';

let folder: string;
let bundles: string;
let script: string;
beforeAll(async () => {
  bundles = await mkdtemp(path.join(tmpdir(), 'tandem-loop-'));
  script = await bundled('run-loop.ts', bundles);
});
afterAll(() => rm(bundles, { recursive: true, force: true }));

const right = 'def parcel_fee(grams: int) -> int:\n    return 300 if grams <= 500 else 700';
const wrong = 'def parcel_fee(grams: int) -> int:\n    return 300';
const question = asks('Is there a limit on the weight?');

const facts = [{ topic: 'weight limit', keywords: ['weight', 'limit'], answers: ['500 grams.'] }];

const row = (id: string): string => {
  const description = `I need the fee for a parcel to ${id}.\n\ndef parcel_fee(grams: int) -> int:`;
  return JSON.stringify(taskRow({ id, facts, problem_description: description }));
};

const state = (name: string): unknown[] => ['event', { event: 'state', state: name, stage: 'policy' }];
const step = (number: number): unknown[] => [
  'event',
  {
    event: 'step',
    stage: 'policy',
    step: number,
    steps: 4,
    loss: 1 / number,
    accuracy: 0.5,
    seconds_left: 1,
  },
];
/** Commands of the stand-in trainer: it trains, waits for these files of its run, and writes a model. */
const training = (files: readonly string[] = [], config: object = {}): unknown => [
  [
    ...[state('running'), step(1), ...files.map((name) => ['wait for', name]), step(2)],
    ...[['file', 'model/config.json', JSON.stringify(config)], state('done')],
  ],
];

/** Creates a folder with a pack, two agents and a trainer. */
async function prepare(): Promise<void> {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-loop-'));
  const rows = Array.from({ length: 15 }, (_, i) => row(`task-${i}`));
  await writeFile(path.join(folder, 'pack.jsonl'), rows.join('\n'));
  await says('before', [question, answers(wrong)]);
  await says('after', [question, answers(right)]);
  await writeFile(path.join(folder, 'play.json'), JSON.stringify(training()));
  await model(path.join(folder, 'base'));
}

const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });

const says = (agent: string, turns: readonly string[]): Promise<void> =>
  writeFile(path.join(folder, `${agent}.json`), JSON.stringify({ turns }));

/** Writes the files of a model folder; none is loaded, because scripts play. */
async function model(place: string): Promise<void> {
  const size = { vocab_size: 8, hidden_size: 8, intermediate_size: 8, max_position_embeddings: 8 };
  const config = {
    ...size,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    architectures: ['LlamaForCausalLM'],
  };
  await mkdir(path.join(place, 'onnx'), { recursive: true });
  await writeFile(path.join(place, 'config.json'), JSON.stringify(config));
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'onnx/model.onnx']) {
    await writeFile(path.join(place, name), '{}');
  }
}

interface Ended {
  readonly told: readonly LoopProgress[];
  readonly result?: LoopResult;
  readonly stderr: string;
}

const lineSchema = z.looseObject({ stage: z.string().optional(), result: z.unknown().optional() });

/** Runs the loop in a process of its own, which pauses in the stage `killAt` and is killed there. */
async function run({ killAt = '', trainerCode = '' } = {}): Promise<Ended> {
  const env = { ...process.env, TRAINER_CODE: trainerCode, HOLD_AT: killAt };
  const child = spawn(process.execPath, [script, folder, anyPython()], { env });
  const told: LoopProgress[] = [];
  let result: LoopResult | undefined;
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  const ended = new Promise((resolve) => child.once('close', resolve));
  for await (const line of createInterface(child.stdout)) {
    const read = lineSchema.parse(JSON.parse(line));
    if (read.result !== undefined) result = read.result as LoopResult;
    else told.push(read as unknown as LoopProgress);
    const last = told.at(-1);
    if (last?.stage === killAt && last.state === 'working' && last.done !== undefined) child.kill('SIGKILL');
  }
  await ended;
  return { told, stderr, ...(result && { result }) };
}

/** Returns the result of each stage, in order. */
const fates = ({ told }: Ended): string[] =>
  told.flatMap(({ stage, state: now }) => (now === 'done' || now === 'skipped' ? [`${stage} ${now}`] : []));

async function dialogues(): Promise<number> {
  const log = await TrajectoryLog.open(path.join(folder, 'loop'));
  try {
    return log.count().total;
  } finally {
    await log.close();
  }
}

/** Number of dialogues: 12 training tasks played twice; 3 held-out ones, sampled and greedy, before and after. */
const ALL_DIALOGUES = 12 * 2 + 3 * 2 * 2;

describe('a loop', () => {
  beforeEach(prepare);
  afterEach(remove);

  it('plays, trains, measures and reports, and does nothing again the next time', async () => {
    const first = await run();
    expect(first.stderr).toBe('');
    expect(fates(first)).toEqual([
      'tasks done',
      'collect done',
      'train done',
      'export done',
      'evaluate done',
      'report done',
    ]);
    expect(first.result!.comparisons.sampled).toMatchObject({
      before: { success: { mean: 0 }, missedDecisions: 0 },
      after: { success: { mean: 1 } },
      gained: 3,
      lost: 0,
    });
    expect(await dialogues()).toBe(ALL_DIALOGUES);
    expect(await readdir(path.join(folder, 'loop', 'model'))).toContain('config.json');
    const pictures = path.join(path.dirname(first.result!.report), 'pictures');
    expect(await readdir(pictures)).toEqual(expect.arrayContaining(['policy.svg', 'success.svg']));

    const second = await run();
    expect(fates(second).every((fate) => fate.endsWith('skipped'))).toBe(true);
    expect(second.result!.comparisons).toEqual(first.result!.comparisons);
    expect(await dialogues()).toBe(ALL_DIALOGUES);
  });

  it('replays the dialogues of the run that made its agent', async () => {
    const earlier = path.join(folder, 'runs', 'first');
    await mkdir(path.join(earlier, 'data'), { recursive: true });
    const rows = path.join(earlier, 'data', 'trajectories.jsonl');
    await writeFile(rows, '{}\n');
    await writeFile(path.join(earlier, 'run.json'), '{"data":{"trajectories":["data/trajectories.jsonl"]}}');
    await writeFile(path.join(folder, 'base', 'trained-by.json'), '{"run":"first"}');
    const { result, stderr } = await run();
    expect(stderr).toBe('');
    const trained = path.join(folder, 'loop', 'runs', result!.run, 'run.json');
    expect(JSON.parse(await readFile(trained, 'utf8'))).toMatchObject({ data: { earlier: [rows] } });
  });

  it('makes the graph that a run could not make, or says why it cannot be made', async () => {
    await writeFile(path.join(folder, 'play.json'), JSON.stringify(training([], { refuse: 'No memory.' })));
    const failed = await run();
    expect(fates(failed)).toEqual(['tasks done', 'collect done', 'train done']);
    expect(failed.stderr).toContain('No memory.');
    // The run is kept, and the graph is tried again.
    const [{ id } = { id: '' }] = await new Runs(path.join(folder, 'loop')).list();
    await writeFile(path.join(folder, 'loop', 'runs', id, 'model', 'config.json'), '{}');
    expect(fates(await run()).slice(2, 4)).toEqual(['train skipped', 'export done']);
    expect(await readdir(path.join(folder, 'loop', 'model'))).toContain('onnx');
  });

  it('goes on where it was killed: amid the play, the training and the evaluation', async () => {
    await writeFile(path.join(folder, 'play.json'), JSON.stringify(training(['go'])));
    expect(fates(await run({ killAt: 'collect' }))).toEqual(['tasks done']);
    const played = await dialogues();
    expect(played).toBeGreaterThan(0);
    expect(played).toBeLessThan(24);

    expect(fates(await run({ killAt: 'train' }))).toEqual(['tasks skipped', 'collect done']);
    const runs = new Runs(path.join(folder, 'loop'));
    const [trained] = await runs.list();
    await writeFile(path.join(trained!.folder, 'go'), '');
    expect(fates(await run({ killAt: 'evaluate' }))).toEqual([
      'tasks skipped',
      'collect skipped',
      'train done',
      'export done',
    ]);
    const last = await run();
    expect(last.stderr).toBe('');
    expect(fates(last).slice(4)).toEqual(['evaluate done', 'report done']);
    // No dialogue was played twice, and the one run went on training while the loop was down.
    expect(await dialogues()).toBe(ALL_DIALOGUES);
    expect(await runs.list()).toMatchObject([{ state: 'done' }]);
  });
});
