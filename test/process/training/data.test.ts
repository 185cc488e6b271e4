import { mkdtempSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseSelection } from '../../../src/core/training/configuration';
import { countData } from '../../../src/core/training/data/countData';
import { prepareData } from '../../../src/core/training/data/prepare';
import type { SelectionReport } from '../../../src/core/training/data/report';
import { loadTasks } from '../../../src/core/task/pack';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { starterPack } from '../../fixtures/dialogue';
import { asksFirst, collectLog, python } from '../../fixtures/trainer';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  graded,
  play,
  reply,
  segmentFiles,
  started,
} from '../../fixtures/log';

const rowSchema = z.looseObject({
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  dialogue_history: z.array(z.looseObject({ role: z.string(), output: z.string().optional() })),
  reward: z.number(),
  task: z.looseObject({ id: z.string() }),
  tandem: z.looseObject({
    episode: z.string(),
    turns: z.array(z.looseObject({ token_ids: z.array(z.number()).optional() })),
  }),
});

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-training-'));
const data = path.join(folder, '.tandem');
/** What `collectLog` has played, and nothing else. */
const other = path.join(folder, 'other');
let task: string;

const ada = { kind: 'developer', name: 'ada' } as const;
const bob = { kind: 'developer', name: 'bob' } as const;

/** Makes a dialogue with token ids, as logged from a server that returns them. */
function played(episode: string, fields: Parameters<typeof started>[1] = {}): NewEvent[] {
  const turn = (number: number, text: string): NewEvent => ({
    ...{ event: 'agent-turn', episode, turn: number, text, finishReason: 'stop', model: 'served' },
    tokens: { ids: [number, 2, 3], logprobs: [-0.5, -0.25, -0.125] },
    promptTokenIds: [9, 8, 7],
  });
  return [
    started(episode, { task, prompts: {}, ...fields }),
    turn(1, 'OUTPUT:\nWhich?'),
    reply(episode, 1, fields.collaborator),
    turn(2, 'OUTPUT:\nI WANT TO ANSWER:\ndef f(): pass'),
    answered(episode, 2),
    graded(episode, 0.5),
  ];
}

beforeAll(async () => {
  await collectLog(data);
  await cp(path.join(data, 'log'), path.join(other, 'log'), { recursive: true });
  const { tasks } = await loadTasks(starterPack);
  task = tasks[0]!.id;
  const log = await TrajectoryLog.open(data);
  await log.recordTask(tasks[0]!);
  await log.append({ event: 'consent', pseudonym: 'ada', purpose: 'research' });
  await log.appendAll(played('by-ada', { collaborator: ada }));
  await log.appendAll(played('by-bob', { collaborator: bob }));
  // Bob answered one question for the simulator, and handed back.
  await log.appendAll(
    played('helped-by-bob').map((event) =>
      event.event === 'reply' ? reply('helped-by-bob', 1, bob) : event,
    ),
  );
  await log.appendAll(played('of-the-editor', { agent: 'vscode:copilot/gpt' }));
  await log.appendAll(
    played('simulated-by-the-editor', { collaborator: { kind: 'simulator', name: 'vscode:gpt' } }),
  );
  await log.appendAll(
    played('drafted-by-the-editor', { collaborator: ada }).map((event) =>
      event.event === 'reply'
        ? { ...event, author: 'developer-edited-suggestion', suggestion: 'That.', terms: 'editor' }
        : event,
    ),
  );
  await log.appendAll(
    played('drafted-and-untagged', { collaborator: ada }).map((event) =>
      event.event === 'reply'
        ? { ...event, author: 'developer-sent-suggestion', suggestion: 'That.', suggestedBy: 'vscode:gpt' }
        : event,
    ),
  );
  await log.appendAll(played('evaluated', { collection: 'evaluation-1' }));
  await log.appendAll(played('other-prompt', { prompts: { 'agent.md': 'another' } }));
  await log.appendAll(played('ungraded').slice(0, -1));
  await log.close();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

let runs = 0;
async function prepared(
  dataFields: object,
): Promise<SelectionReport & { rows: z.infer<typeof rowSchema>[]; file: string }> {
  const run = path.join(folder, `run-${(runs += 1)}`);
  const selection = parseSelection({ log: data, ...dataFields }, { from: 'test.json', folder });
  const report = await prepareData(selection!, run, {
    prompts: path.resolve('trainer/tandem_trainer/data/prompts'),
  });
  expect(JSON.parse(await readFile(path.join(run, 'data', 'selection.json'), 'utf8'))).toEqual(report);
  const file = path.join(run, 'data', 'trajectories.jsonl');
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const rows = lines.map((line) => rowSchema.parse(JSON.parse(line)));
  expect(rows).toHaveLength(report.trajectories);
  return { ...report, rows, file };
}

const episodes = (rows: readonly z.infer<typeof rowSchema>[]): string[] =>
  rows.map(({ tandem }) => tandem.episode);

/** Counts pairs of rows of one task with different rewards. */
function pairsOf(rows: readonly z.infer<typeof rowSchema>[]): number {
  const better = rows.map((one) =>
    rows.filter((other) => other.task.id === one.task.id && other.reward < one.reward),
  );
  return better.flat().length;
}

describe('the data of a run', () => {
  it('begin with the shipped request for small models where its word is given', async () => {
    const { rows, other_prompts } = await prepared({ opening: 'short' });
    expect(rows[0]!.messages[0]!.content).toMatch(/^Write a Python function for a colleague\. Ask /);
    expect(other_prompts).toBe(13);
  });

  it('are the finished, graded dialogues of the log; what is left out is counted by its reason', async () => {
    const { rows, ...report } = await prepared({});
    expect(report).toMatchObject({
      log: data,
      trajectories: 14,
      tasks: 6,
      successes: 3,
      left_out: { 'no consent': 2, 'model terms': 4, 'played in an evaluation': 1, 'not graded': 1 },
      other_prompts: 1,
      with_token_ids: 2,
    });
    expect(episodes(rows)).toEqual(expect.arrayContaining(['by-ada', 'other-prompt']));
    expect(episodes(rows)).not.toContain('by-bob');
    expect(episodes(rows)).not.toContain('helped-by-bob');
  });

  it.each([{}, { exclude_models: [], with_evaluations: true, minimum_reward: 0.5 }])(
    'are counted before they are written, in the same way: %j',
    async (fields) => {
      const selection = parseSelection({ log: data, ...fields }, { from: 'test', folder });
      const log = await TrajectoryLog.open(data);
      try {
        const { trajectories, tasks, successes, leftOut, turns, pairs, tokens, uncounted } = await countData(
          log,
          selection!,
          { pairing: 'all' },
        );
        const report = await prepared(fields);
        expect({ trajectories, tasks, successes, left_out: leftOut }).toEqual({
          ...{ trajectories: report.trajectories, tasks: report.tasks, successes: report.successes },
          left_out: report.left_out,
        });
        const said = report.rows.flatMap(({ tandem }) => tandem.turns);
        expect(turns).toBe(said.length);
        const ids = said.flatMap(({ token_ids }) => token_ids ?? []);
        expect([tokens, uncounted]).toEqual([ids.length, said.filter(({ token_ids }) => !token_ids).length]);
        expect(pairs).toBe(pairsOf(report.rows));
      } finally {
        await log.close();
      }
    },
  );

  it.each([
    ['agent', { filter: { agent: asksFirst } }, 6],
    ['time', { filter: { until: '2020-01-01', pack: 'written-by-hand.jsonl' } }, 0],
    ['reward', { minimum_reward: 1 }, 3],
    ['models, without all others', { exclude_models: ['script:*', 'vscode:*'] }, 2],
    ['evaluations', { with_evaluations: true }, 15],
    ['models, without excluding any', { exclude_models: [] }, 18],
  ])('can be chosen by %s', async (_, fields, expected) => {
    const count = prepared(fields).then(({ trajectories }) => trajectories);
    if (expected === 0) await expect(count).rejects.toThrow('22 outside the filter');
    else expect(await count).toBe(expected);
  });

  it('are rewards of the mode that was asked for', async () => {
    await expect(prepared({ mode: 'paper' })).rejects.toMatchObject({ code: 'training/no-data' });
  });

  it('are in the trainer what the fold tells of a log, whatever was taken back, chosen or lost in it', async () => {
    const log = await TrajectoryLog.open(other);
    for (const id of ['retaken', 'reopened', 'chosen', 'lost', 'deleted']) await play(log, id, 0.5);
    await log.appendAll([agentTurn('retaken', 1), answered('retaken', 1), graded('retaken', 1)]);
    await log.append({ event: 'resumed', episode: 'reopened' });
    await log.appendAll([candidates('chosen', 1), candidates('chosen', 1), choice('chosen', 1, 0)]);
    await log.appendAll([agentTurn('chosen', 1), answered('chosen', 1), graded('chosen', 0)]);
    await log.append({ event: 'deleted', episode: 'deleted' });
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'a study' });
    await log.close();
    const segment = (await segmentFiles(other)).at(-1)!;
    const lines = (await readFile(segment, 'utf8')).split('\n');
    const kept = lines.filter((line) => !line.includes('"event":"reply","episode":"lost"'));
    await writeFile(segment, `${kept.join('\n')}{"version":1,"event":"del`);

    const selection = { log: other, with_doubtful: true };
    const again = await TrajectoryLog.open(other);
    const { trajectories, tasks, successes, turns } = await countData(again, selection, { pairing: 'paper' });
    await again.close();
    expect([trajectories, tasks, successes, turns]).toEqual([14, 7, 4, 27]);
    const { file } = await prepared(selection);
    const script = [
      'import json, sys; from tandem_trainer.data.rows import read_rows',
      'read = read_rows([sys.argv[1]])',
      'all = read.dialogues',
      'successes, turns = sum(one.reward == 1 for one in all), sum(len(one.turns) for one in all)',
      'print(json.dumps([len(all), len({one.task for one in all}), successes, turns, len(read.problems)]))',
    ].join('\n');
    expect(JSON.parse(await python(script, file))).toEqual([14, 7, 4, 27, 0]);
  });
});
