import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exportTrajectories, previewExport } from '../../../../src/core/trajectory/export/export';
import { render } from '../../../fixtures/choices';
import {
  agentTurn,
  answered,
  doubling,
  graded,
  openLog,
  play,
  reply,
  started,
  temporaryFolder,
} from '../../../fixtures/log';

async function read(file: string): Promise<Record<string, unknown> & { samples: Record<string, unknown>[] }> {
  return JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown> & {
    samples: Record<string, unknown>[];
  };
}

it('writes each dialogue as a sample, the dialogues of a task as its epochs', async () => {
  const log = await openLog();
  await play(log, 'e1', 1);
  await play(log, 'e2', 0.5);
  await play(log, 'e3', 0, { agent: 'openai:other' }, { ...doubling, id: 'another' });
  const file = join(await temporaryFolder(), 'dialogues.json');
  const { rows } = await exportTrajectories(log, file, { format: 'inspect', render });
  const { samples, ...header } = await read(file);
  expect(samples.map(({ uuid, id, epoch }) => [uuid, id, epoch])).toEqual([
    ['e1', doubling.id, 1],
    ['e2', doubling.id, 2],
    ['e3', 'another', 1],
  ]);
  expect(header).toMatchObject({
    ...{ version: 2, status: 'success' },
    eval: { model: 'openai:agent, openai:other', dataset: { samples: 3 } },
    results: { total_samples: rows, scores: [{ name: 'reward', metrics: { mean: { value: 0.5 } } }] },
  });
  const { first } = await previewExport(log, { format: 'inspect', render }, 3);
  expect(JSON.parse(JSON.stringify(first))).toEqual(samples);
});

it('gives a sample its messages with who wrote them, answer, reward, and the tokens that servers reported', async () => {
  const log = await openLog();
  await log.recordTask(doubling);
  const usage = { promptTokens: 10, completionTokens: 3 };
  await log.append(started('e1'));
  await log.appendAll([
    { ...agentTurn('e1', 1), usage } as ReturnType<typeof agentTurn>,
    { ...reply('e1', 1), usage: { promptTokens: 7, completionTokens: 1 } } as ReturnType<typeof reply>,
    { ...agentTurn('e1', 2), usage, timing: { totalMs: 1500, attempts: 1 } } as ReturnType<typeof agentTurn>,
    ...[answered('e1', 2, 'code'), graded('e1', 0.5)],
  ]);
  const file = join(await temporaryFolder(), 'dialogues.json');
  await exportTrajectories(log, file, { format: 'inspect', render });
  const [sample] = (await read(file)).samples;
  const last = { role: 'assistant', content: 'OUTPUT: question 2?', source: 'generate', model: 'agent' };
  expect(sample).toMatchObject({
    input: [{ role: 'user', content: doubling.description, source: 'input' }],
    target: doubling.reference,
    messages: [
      { role: 'user', content: doubling.description },
      { role: 'assistant', content: 'OUTPUT: question 1?' },
      { role: 'user', content: 'reply 1 of openai:simulator', metadata: { author: 'simulator' } },
      last,
    ],
    output: { model: 'agent', choices: [{ message: last, stop_reason: 'stop' }], time: 1.5 },
    scores: { reward: { value: 0.5, answer: 'code', metadata: { grading_mode: 'fixed', success: false } } },
    metadata: { episode: 'e1', agent: 'openai:agent', turns: [{ reply_author: 'simulator' }, {}] },
    model_usage: {
      agent: { input_tokens: 20, output_tokens: 6, total_tokens: 26 },
      'openai:simulator': { input_tokens: 7, output_tokens: 1, total_tokens: 8 },
    },
  });
});

it('writes a log without samples, and none under a name that the reader would not know', async () => {
  const folder = await temporaryFolder();
  const log = await openLog();
  const file = join(folder, 'dialogues.json');
  await exportTrajectories(log, file, { format: 'inspect', render });
  expect(await read(file)).toMatchObject({ samples: [], results: { total_samples: 0, scores: [] } });
  const other = exportTrajectories(log, join(folder, 'dialogues.jsonl'), { format: 'inspect', render });
  await expect(other).rejects.toThrow(
    'Inspect AI reads files whose names end with .json, and dialogues.jsonl does not; nothing was written.',
  );
  expect((await readdir(folder)).sort()).toEqual(['dialogues.json', 'dialogues.json.md']);
});
