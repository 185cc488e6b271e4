import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { commandFolder, json, tandem } from './tandem';

const { folder } = commandFolder();

const number = z.number();
const evaluated = z.object({
  summary: z.object({
    agents: z.tuple([
      z.object({
        ...{ tasks: number, notGradable: number, unfinished: number, missedDecisions: z.null() },
        questions: z.object({ needed: number, asked: number, bits: number, regret: number, left: number }),
      }),
    ]),
  }),
});

it('plays generated twenty questions with the model that ships, and measures them beside the best way to ask', async () => {
  const pack = path.join(folder, 'world.jsonl');
  await tandem('world', pack, '--kind', 'twenty-questions', '--tasks', '8', '--split', 'development');
  const { summary } = await json(
    evaluated,
    ...['evaluate', '--tasks', pack, '--agent', 'starter-questions', '--simulator', 'rules', '--jobs', '1'],
    ...['--max-turns', '7', '--temperature', '1', '--data', path.join(folder, 'data')],
  );
  const [{ questions, ...figures }] = summary.agents;
  expect(figures).toMatchObject({ tasks: 8, notGradable: 0, unfinished: 0 });
  expect(questions.needed).toBeGreaterThan(4);
  expect(questions.asked).toBeGreaterThan(2);
  expect(questions.bits).toBeGreaterThan(0.1);
  expect(questions.bits).toBeLessThan(0.9);
  expect(questions.regret).toBeGreaterThan(0.5);
});
