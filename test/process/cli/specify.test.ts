import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { loadTasks } from '../../../src/core/task/pack';
import { programOf } from '../../../src/core/task/task';
import { startChatServer, type ChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { commandFolder, demonstration, json, starterRows, tandem } from './tandem';

const { file, folder } = commandFolder();

/** Drafts say which function the checker is to write, so that the server needs no model. */
const SUFFICES = '- Over 20 kilograms, 4.50 euros are added; other zones give minus one.';
const MISLEADS = '- Every parcel is for free.';
const RIGHT =
  'def parcel_price(weight_kg, zone):\n    base = {1: 5, 2: 8, 3: 12}.get(zone)\n    return -1 if base is None else base + (4.5 if weight_kg > 20 else 0)';
const WRONG = 'def parcel_price(weight_kg, zone):\n    return 0';

let server: ChatServer;
let drafts = 0;

beforeAll(async () => {
  server = await startChatServer({
    reply: ({ body }) => {
      const text = body.messages.map(({ content }) => content).join('\n');
      if (text.includes('<message>')) return answer('1');
      if (text.includes('play a developer')) return answer('Over 20 kilograms.');
      if (!text.includes('<code>')) return answer(text.includes('for free') ? WRONG : RIGHT);
      drafts++;
      return answer(text.includes('Misled') ? MISLEADS : SUFFICES);
    },
  });
});
afterAll(() => server.close());

const specified = z.object({
  summary: z.object({
    tasks: z.number(),
    states: z.record(z.string(), z.number()),
    failures: z.array(z.string()),
  }),
});

const collected = z.object({ summary: z.object({ simulator: z.object({ notes: z.array(z.string()) }) }) });

test('tandem specify drafts and checks each task once, and a simulator plays by what it wrote', async () => {
  const [{ facts: _, ...row }, withFacts] = (await starterRows()) as [Record<string, string>, unknown];
  const rows = [row, { ...row, id: 'misled', problem_description: `Misled: ${row.problem_description}` }];
  const pack = await file('pack.jsonl', [...rows, withFacts]);
  const out = path.join(folder, 'specified.jsonl');
  const model = `openai:m@${server.url}`;
  const specify = () => json(specified, 'specify', pack, out, '--model', model, '--jobs', '1');
  const states = { facts: 1, passed: 1, failed: 1, unchecked: 0 };
  expect((await specify()).summary).toEqual({ ...{ tasks: 3, states }, failures: [] });

  const before = drafts;
  const whole = await readFile(out, 'utf8');
  await appendFile(out, '{"torn');
  expect((await specify()).summary.states).toEqual(states);
  expect(drafts).toBe(before);
  expect(await readFile(out, 'utf8')).toBe(whole);
  const { tasks } = await loadTasks(out);
  expect(tasks.map((task) => programOf(task).specification?.check)).toEqual([
    { by: model, passed: 10, tests: 10 },
    expect.objectContaining({ tests: 10 }),
    undefined,
  ]);

  const simulator = `specification:${model},persona=vague`;
  const { summary } = await json(
    collected,
    ...['collect', '--tasks', out, '--agent', demonstration, '--simulator', simulator],
    ...['--data', path.join(folder, 'data'), '--jobs', '1'],
  );
  expect(summary.simulator.notes).toContain(
    `${simulator}: of 3 tasks, 1 had a specification that failed its check.`,
  );

  const evaluated = await tandem(
    ...['evaluate', '--tasks', out, '--agent', demonstration, '--simulator', simulator, '--judge', model],
    ...['--data', path.join(folder, 'data'), '--jobs', '1'],
  );
  expect(evaluated.stdout).toContain('Doubtful specifications');
  expect(evaluated.stdout).toMatch(
    new RegExp(`Ask-F1 .* of 2 dialogues, judged by ${model}.* 1 of them have`),
  );

  const other = await tandem('specify', await file('other.jsonl', [withFacts]), out, '--model', model);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('which is not in the pack')]);
});
