import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { version } from '../../../../package.json';
import { exportTrajectories } from '../../../../src/core/trajectory/export/export';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { chosen, render } from '../../../fixtures/choices';
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

const extra = z.record(z.string(), z.unknown()).optional();
const ids = z.array(z.int()).optional();
const step = { step_id: z.int().min(1), timestamp: z.iso.datetime().optional(), message: z.string(), extra };

/** The fields of ATIF-v1.8 that a dialogue without tools can have, as Harbor's models demand them. */
const atif = z.strictObject({
  schema_version: z.literal('ATIF-v1.8'),
  session_id: z.string().optional(),
  trajectory_id: z.string().optional(),
  agent: z.strictObject({ name: z.string(), version: z.string(), model_name: z.string().optional() }),
  steps: z
    .array(
      z.discriminatedUnion('source', [
        z.strictObject({ ...step, source: z.enum(['system', 'user']) }),
        z.strictObject({
          ...step,
          source: z.literal('agent'),
          model_name: z.string().optional(),
          reasoning_content: z.string().optional(),
          metrics: z
            .strictObject({
              prompt_tokens: z.int().optional(),
              completion_tokens: z.int().optional(),
              prompt_token_ids: ids,
              completion_token_ids: ids,
              logprobs: z.array(z.number()).optional(),
            })
            .optional(),
        }),
      ]),
    )
    .min(1)
    .refine((steps) => steps.every(({ step_id }, index) => step_id === index + 1)),
  final_metrics: z.strictObject({
    total_prompt_tokens: z.int().optional(),
    total_completion_tokens: z.int().optional(),
    total_steps: z.int(),
  }),
  extra,
});

async function rowsOf(log: TrajectoryLog): Promise<z.infer<typeof atif>[]> {
  const file = join(await temporaryFolder(), 'dialogues.jsonl');
  await exportTrajectories(log, file, { format: 'atif', render });
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  return lines.map((line) => atif.parse(JSON.parse(line)));
}

const sampled = {
  usage: { promptTokens: 10, completionTokens: 3 },
  tokens: { ids: [5, 6, 7], logprobs: [-0.5, -1, -0.25] },
  promptTokenIds: [1, 2],
  reasoning: 'I had better ask.',
};

it('writes a dialogue as a trajectory of Harbor, with its tokens and its grade', async () => {
  const log = await openLog();
  await log.recordTask(doubling);
  await log.append(started('e1'));
  await log.appendAll([
    { ...agentTurn('e1', 1), ...sampled },
    reply('e1', 1),
    { ...agentTurn('e1', 2), usage: sampled.usage } as ReturnType<typeof agentTurn>,
    ...[answered('e1', 2, 'code'), graded('e1', 0.5)],
  ]);
  const timestamp = expect.any(String) as string;
  expect(await rowsOf(log)).toEqual([
    {
      schema_version: 'ATIF-v1.8',
      session_id: 'e1',
      trajectory_id: 'e1',
      agent: { name: 'tandem', version, model_name: 'openai:agent' },
      steps: [
        { step_id: 1, timestamp, source: 'user', message: doubling.description },
        {
          step_id: 2,
          timestamp,
          source: 'agent',
          model_name: 'agent',
          message: 'OUTPUT: question 1?',
          reasoning_content: 'I had better ask.',
          metrics: {
            prompt_tokens: 10,
            completion_tokens: 3,
            prompt_token_ids: [1, 2],
            completion_token_ids: [5, 6, 7],
            logprobs: [-0.5, -1, -0.25],
          },
          extra: { finish_reason: 'stop' },
        },
        {
          step_id: 3,
          timestamp,
          source: 'user',
          message: 'reply 1 of openai:simulator',
          extra: { reply_author: 'simulator', reply_by: 'openai:simulator' },
        },
        {
          step_id: 4,
          timestamp,
          source: 'agent',
          model_name: 'agent',
          message: 'OUTPUT: question 2?',
          metrics: { prompt_tokens: 10, completion_tokens: 3 },
          extra: { finish_reason: 'stop' },
        },
      ],
      final_metrics: { total_prompt_tokens: 20, total_completion_tokens: 6, total_steps: 4 },
      extra: expect.objectContaining({
        ...{ episode: 'e1', task: doubling.id, answer: 'code' },
        ...{ grading_mode: 'fixed', reward: 0.5, success: false },
      }) as object,
    },
  ]);
});

it('has no totals where a server did not report the tokens of each message', async () => {
  const log = await openLog();
  await log.recordTask(doubling);
  await log.append(started('e1'));
  await log.appendAll([
    { ...agentTurn('e1', 1), usage: sampled.usage } as ReturnType<typeof agentTurn>,
    ...[reply('e1', 1), agentTurn('e1', 2), answered('e1', 2)],
  ]);
  const [row] = await rowsOf(log);
  expect(row!.final_metrics).toEqual({ total_steps: 4 });
  expect(row!.steps[3]).not.toHaveProperty('metrics');
});

it('has the times of steps only where people let their timing leave', async () => {
  const log = await openLog();
  const times = async () => (await rowsOf(log))[0]!.steps.map(({ timestamp }) => timestamp !== undefined);
  await chosen(log, 'e1', [0, 1], 'export');
  expect(await times()).toEqual([false, false, false, false]);
  await log.append({
    ...{ event: 'consent', pseudonym: 'kim', purpose: 'a study', level: 'export-with-edits' },
  });
  expect(await times()).toEqual([true, true, true, true]);
});
