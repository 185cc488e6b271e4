import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { countData } from '../../../../src/core/training/data/countData';
import { prepareData } from '../../../../src/core/training/data/prepare';
import { rowsOfRun } from '../../../../src/core/training/methods';
import {
  agentTurn,
  answered,
  doubling,
  graded,
  openLog,
  reply,
  started,
  temporaryFolder,
} from '../../../fixtures/log';

const draft = (value: number): string =>
  `OUTPUT:\nI WANT TO ANSWER:\ndef double(n):\n    return ${value} * n`;

test('a run of a role learns from pairs of the trees in a log, as many as are counted before', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await log.recordTask(doubling);
  const candidates = [
    { model: 'g', text: draft(2) },
    { model: 'g', text: draft(3) },
  ];
  const asked = 'For double(n=2), should the result be 4 or 6?';
  for (const [rollout, reward] of [1, 0].entries()) {
    const episode = `ending ${rollout}`;
    const verifier = { model: 'v', asked, text: 'Twice?' };
    const question = { ...agentTurn(episode, 1, `OUTPUT:\n${asked}`), selection: { candidates, verifier } };
    const events = [started(episode, { collection: 'tree2-test', rollout }), question, reply(episode, 1)];
    const answer = draft(2 + rollout);
    await log.appendAll([
      ...events,
      agentTurn(episode, 2, answer),
      answered(episode, 2),
      graded(episode, reward),
    ]);
  }
  const rows = rowsOfRun({ role: 'refiner', method: 'multiturn-dpo' });
  expect(rows).toBe('refiner');
  const run = await temporaryFolder();
  const prompts = resolve('trainer/tandem_trainer/data/prompts');
  await prepareData({ log: folder }, run, { prompts, rows });
  const text = await readFile(join(run, 'data', 'preferences.jsonl'), 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    prompt: [
      {},
      { role: 'assistant', content: `OUTPUT:\n${asked}` },
      { content: 'reply 1 of openai:simulator' },
    ],
    chosen: [{ content: draft(2) }],
    rejected: [{ content: draft(3) }],
    tandem: { task: doubling.id, role: 'refiner', chosen: { value: 1 }, rejected: { value: 0 } },
  });
  const counts = await countData(log, { log: folder }, { rows, pairing: 'paper' });
  expect(counts).toMatchObject({ pairs: 1, trajectories: 2 });
});
