import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CriticScorer } from '../../../src/core/model/local/critic/turnScorer';
import type { ChatMessage } from '../../../src/core/model/model';
import { prepareData } from '../../../src/core/training/data/prepare';
import { scoredSchema, type Scored } from '../../../src/core/training/convert';
import { scoreHere } from '../../../src/core/training/scoring/scoreLocally';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { agentTurn, doubling, started } from '../../fixtures/log';
import { runNode } from '../../fixtures/tasks';
import { collectLog, python } from '../../fixtures/trainer';

// Critics with random weights, exported by the real trainer, must give the trainer's own scores here.

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-critics-'));

/** Critics for each way of scoring, and for each treatment of a dialogue by a chat template. */
const CRITICS = {
  paper: {},
  sums: { template: 'llama3_1', length_normalisation: false },
  blind: { template: 'qwen3', hidden_information: false },
  'reference-code': { template: 'qwen3', convention: 'reference-code' },
};

type Name = keyof typeof CRITICS;

const task = {
  id: 'discount',
  problem_description: 'Take the discount off a price.\ndef total(price, rate):',
  ground_truth: 'def total(price, rate):\n    return price if price < 10 else price * rate',
  test_cases: { test1: 'total(3, 2)' },
};
const history = [
  { role: 'agent', content: '<think>\nIs there a limit?\n</think>\n\nFrom which price on?' },
  { role: 'human', content: 'From 10 on; it is 0 for nothing — “really”.' },
  { role: 'agent', content: '<think>\nSo 10.\n</think>\n\nI WANT TO ANSWER:\nreturn price * rate' },
];
const published = { task, dialogue_history: history, answer: 'return price * rate', reward: 1 };
const messages = [
  { role: 'user', content: 'Write total(price, rate).' },
  ...history.map(({ role, content }) => ({ role: role === 'agent' ? 'assistant' : 'user', content })),
];

/** Makes turns sampled letter by letter, unlike any tokenizer; a server cut the end of the second turn. */
function sampled(vocabulary: Readonly<Record<string, number>>): object {
  const letters = (text: string): number[] => Array.from(text, (letter) => vocabulary[letter]!);
  const answer = 'I.WANT.TO.ANSWER:return.0';
  const turns = [
    { token_ids: letters('Which.limit?'), finish_reason: 'length' },
    { token_ids: letters(answer), finish_reason: 'stop', prompt_token_ids: letters('some.other.prompt') },
  ];
  const said = [
    { role: 'agent', content: 'Which.limit?' },
    { role: 'human', content: 'Ten.' },
    { role: 'agent', content: answer },
  ];
  return {
    ...{ task, dialogue_history: said, answer: 'return.0', reward: 0 },
    messages: [
      messages[0],
      ...said.map(({ role, content }) => ({ role: role === 'agent' ? 'assistant' : 'user', content })),
    ],
    tandem: { episode: 'sampled', turns },
  };
}

const chat = { messages, tandem: { episode: 'chat' } };
const foreign = {
  ...published,
  messages,
  tandem: { episode: 'foreign', turns: [{ token_ids: [99999] }, {}] },
};

const SCRIPT = `
import json, sys, torch
from pathlib import Path
from tandem_trainer.run.advantages import score_files
from tandem_trainer.model.folder import quiet
from tandem_trainer.export.onnx.export import export_onnx
from tandem_trainer.export.critic_file import read_critic_file
from tiny_critic import write_critic
torch.set_num_threads(1)
quiet()
folder, critics, played = Path(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3])
expected = {}
for name, settings in critics.items():
    (folder / name).mkdir()
    critic = write_critic(folder / name, folder / "published.jsonl", **settings)
    export_onnx(critic, [], lambda sentence: None)
    rows = folder / name / "rows.jsonl"
    vocabulary = json.loads((critic / "tokenizer.json").read_text())["model"]["vocab"]
    template = json.loads((folder / "sampled.json").read_text())
    for turn in template["tandem"]["turns"]:
        for key in ("token_ids", "prompt_token_ids"):
            if key in turn:
                turn[key] = [vocabulary[letter] for letter in turn[key]]
    lines = (folder / "published.jsonl").read_text() + json.dumps(template) + "\\n" + (folder / "others.jsonl").read_text()
    rows.write_text(lines)
    about = read_critic_file(critic)
    expected[name] = score_files(about, critic, [rows, played], about.base, "cpu", with_tokens=False)
print(json.dumps(expected))
`;

let expected: Record<string, Scored[]>;
const log = path.join(folder, '.tandem');
/** File of the log's rows. */
const played = path.join(folder, 'prepared', 'data', 'trajectories.jsonl');

beforeAll(async () => {
  const line = (row: unknown): string => `${JSON.stringify(row)}\n`;
  await writeFile(path.join(folder, 'published.jsonl'), line(published));
  const letters = new Proxy({}, { get: (_, letter) => letter }) as Record<string, never>;
  await writeFile(path.join(folder, 'sampled.json'), line(sampled(letters)));
  await writeFile(path.join(folder, 'others.jsonl'), [chat, foreign].map(line).join(''));
  await collectLog(log, 2);
  await playOn();
  await prepareData({ log }, path.join(folder, 'prepared'), { prompts: path.resolve('dist/prompts') });
  const said = await python(SCRIPT, folder, JSON.stringify(CRITICS), played);
  expected = z.record(z.string(), z.array(scoredSchema)).parse(JSON.parse(said));
});

/** Logs an unfinished dialogue. */
async function playOn(): Promise<void> {
  const open = await TrajectoryLog.open(log);
  await open.recordTask(doubling);
  await open.appendAll([started('open'), agentTurn('open', 1)]);
  await open.close();
}

afterAll(() => rm(folder, { recursive: true, force: true }));

function scored(name: Name, lines: string[] = [], trajectories?: readonly string[]): Promise<Scored[]> {
  return scoreHere({
    critic: path.join(folder, name, 'critic'),
    trajectories: trajectories ?? [path.join(folder, name, 'rows.jsonl'), played],
    scoring: path.resolve('dist/scoring.js'),
    prompts: path.resolve('dist/prompts'),
    onLine: (line) => lines.push(line),
  });
}

describe('scoring by ONNX Runtime', () => {
  it.each(Object.keys(CRITICS) as Name[])('says of every turn what PyTorch says: %s', async (name) => {
    const lines: string[] = [];
    const rows = await scored(name, lines);
    const byId = (of: readonly Scored[]): Scored[] => of.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const theirs = byId(expected[name]!);
    expect(rows.map(({ id }) => id).toSorted()).toEqual(theirs.map(({ id }) => id));
    expect(rows.length).toBeGreaterThan(name === 'blind' ? 7 : 6);
    // Its ids come from another tokenizer, so its text is tokenized.
    expect(rows.map(({ id }) => id)).toContain('foreign');
    for (const [at, row] of byId(rows).entries()) {
      const { task, reward, turns } = theirs[at]!;
      expect({ task: row.task, reward: row.reward }).toEqual({ task, reward });
      expect(row.turns.map(({ tokens }) => tokens)).toEqual(turns.map(({ tokens }) => tokens));
      for (const [number, turn] of row.turns.entries()) {
        const { advantage, untrained } = turns[number]!;
        expect(Math.abs(turn.advantage! - advantage!)).toBeLessThan(1e-3);
        if (untrained === null) expect(turn.untrained).toBeNull();
        else expect(Math.abs(turn.untrained! - untrained)).toBeLessThan(1e-3);
      }
    }
    expect(lines.some((line) => line.includes('1 without hidden information'))).toBe(name !== 'blind');
  });

  it('refuses trajectories of which nothing can be scored, with the first reason', async () => {
    const bad = path.join(folder, 'bad.jsonl');
    await writeFile(bad, '{"messages": []}\n');
    await expect(scored('paper', [], [bad])).rejects.toThrow('1 bad line');
  });

  it('refuses a critic whose graph is damaged, and one without graphs, with one sentence', async () => {
    const graph = path.join(folder, 'paper', 'critic', 'onnx', 'critic.onnx');
    const whole = await readFile(graph);
    await writeFile(graph, whole.subarray(0, 1000));
    await expect(scored('paper')).rejects.toMatchObject({ code: 'model/damaged-folder' });
    await rm(graph);
    await expect(scored('paper')).rejects.toThrow('tandem onnx');
    await writeFile(graph, whole);
  });
});

describe('a critic at play', () => {
  const scorer = (name: Name): CriticScorer =>
    new CriticScorer(path.join(folder, name, 'critic'), path.resolve('dist/scoring.js'));

  it('scores the next turn as that turn of a whole dialogue', async () => {
    const blind = scorer('blind');
    try {
      const [history, text] = [messages.slice(0, -1) as ChatMessage[], messages.at(-1)!.content];
      const timing = { totalMs: 1, attempts: 1 };
      const score = await blind.score(history, { text, finishReason: 'stop', timing });
      const whole = expected.blind!.find(({ id }) => id === 'chat')!;
      expect(Math.abs(score! - whole.turns.at(-1)!.advantage!)).toBeLessThan(1e-3);
    } finally {
      await blind.close();
    }
  });

  it('chooses the turns of a mixture, and the log says among which candidates', async () => {
    const [first, second] = ['first', 'second'].map((name) => path.join(folder, `${name}.json`));
    await writeFile(first!, JSON.stringify(['I WANT TO ANSWER:\ndef total(): return 1']));
    await writeFile(second!, JSON.stringify(['I WANT TO ANSWER:\ndef total(): return 2 + 2 + 2']));
    const critic = path.join(folder, 'blind', 'critic');
    const agent = `mixture:script:${first}+script:${second},critic=${critic},n=2`;
    const [tasks, data] = [path.join(folder, 'tasks.jsonl'), path.join(folder, 'mixed')];
    expect(await runNode(['dist/tandem.js', 'world', tasks, '--tasks', '1'])).toMatchObject({ code: 0 });
    const rules = ['--tasks', tasks, '--simulator', 'rules', '--data', data];
    const { code, stdout, stderr } = await runNode(['dist/tandem.js', 'collect', '--agent', agent, ...rules]);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/turns chosen by the critic: 1 by script:/);
    const log = await TrajectoryLog.open(data);
    const { rows } = log.list({ offset: 0, limit: 1 });
    const played = await log.trajectory(rows[0]!.id);
    await log.close();
    const { agent: asked, model, selection } = played!.turns[0]!.agent;
    const { place = -1, candidates } = selection!;
    expect(asked).toBe(agent);
    expect(candidates.map((candidate) => candidate.model)).toEqual(
      [first, first, second, second].map((file) => `script:${file}`),
    );
    expect(candidates[place]!.model).toBe(model);
    expect(candidates[place]!.score).toBe(Math.max(...candidates.map(({ score }) => score!)));
  });
});

it('tandem score takes the graphs of a critic that has them', async () => {
  const out = path.join(folder, 'scored.jsonl');
  const of = ['--critic', path.join(folder, 'paper', 'critic'), '--out', out, '--json'];
  const rows = path.join(folder, 'paper', 'rows.jsonl');
  const { code, stdout, stderr } = await runNode(['dist/tandem.js', 'score', ...of, log, rows]);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('ONNX Runtime');
  expect(stderr).toContain('1 not finished');
  expect(JSON.parse(stdout)).toMatchObject({ summary: { trajectories: 7, file: out } });
  expect((await readFile(out, 'utf8')).trim().split('\n')).toHaveLength(7);
});

it('tandem convert makes a GGUF file of a folder, and says what was made', async () => {
  const file = path.join(folder, 'own.gguf');
  const base = path.join(folder, 'paper', 'base');
  const { code, stdout, stderr } = await runNode(['dist/tandem.js', 'convert', base, file, '--json']);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ summary: { made: file, precision: 'q8_0' } });
});

it('tandem onnx writes the graphs of a critic and says how far each is from PyTorch', async () => {
  const critic = path.join(folder, 'sums', 'critic');
  await rm(path.join(critic, 'onnx'), { recursive: true });
  const { code, stdout, stderr } = await runNode(['dist/tandem.js', 'onnx', critic, '--json']);
  const files = ['critic.onnx', 'reference.onnx'].map((name) => path.join(critic, 'onnx', name));
  expect(JSON.parse(stdout), stderr).toEqual({ summary: { files, refused: [] } });
  expect(stderr.match(/^(critic|reference)\.onnx: .* from PyTorch\.$/gm)).toHaveLength(2);
  expect(code).toBe(0);
});
