import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { serveEnvironment } from '../fixtures/environment';
import { temporaryFolder } from '../fixtures/log';
import { realModel } from '../fixtures/real-model/folder';
import { askNeighbour, trainersPython } from './python';

const playedSchema = z.object({
  rewards: z.array(z.number()),
  moved: z.boolean(),
  agent: z.array(z.string()),
  developer: z.array(z.string()),
});

it('TRL trains the starter model by GRPO on whole dialogues with the developer', async () => {
  await using server = await serveEnvironment([], { tasks: ['samples/workspace/starter-world.jsonl'] });
  const { rewards, moved, agent, developer } = playedSchema.parse(
    await askNeighbour(
      [path.resolve('test/neighbours/play_grpo.py'), server.url, path.resolve('media/starter')],
      { python: await trainersPython() },
    ),
  );
  expect(rewards).toHaveLength(8);
  for (const reward of rewards) {
    expect(reward).toBeGreaterThanOrEqual(0);
    expect(reward).toBeLessThanOrEqual(1);
  }
  // Some answers of the starter model are right, and some are not: without a difference there is nothing to learn.
  expect(new Set(rewards).size).toBeGreaterThan(1);
  expect(moved).toBe(true);
  // The developer speaks in the masked tokens alone, and each of its turns ends where the agent's begins.
  for (const [index, own] of agent.entries()) {
    expect(own).not.toContain('<|user|>');
    const heard = developer[index]!;
    if (heard !== '') expect(heard).toMatch(/^(?:<\|user\|>[^<]+<\|end\|><\|agent\|>)+$/);
  }
  expect(developer.some((heard) => heard !== '')).toBe(true);
});

const task = {
  id: 'double',
  problem_description: 'I need a function that doubles a number. def double(number)',
  ground_truth: 'def double(number):\n    return 2 * number',
  test_cases: { test1: 'double(1)', test2: 'double(0)' },
  facts: [{ topic: 'purpose', keywords: ['what is it for'], answers: ['It doubles prices.'] }],
};
/** Passes half of the tests. */
const half = 'def double(number):\n    return number';

const calledSchema = z.object({
  dialogues: z.array(z.object({ reward: z.number(), agent: z.string(), colleague: z.string() })),
  moved: z.boolean(),
});

it('TRL trains a model that calls tools, whose tools are to ask and to answer', async () => {
  const pack = path.join(await temporaryFolder(), 'double.jsonl');
  await writeFile(pack, `${JSON.stringify(task)}\n`);
  await using server = await serveEnvironment([], { tasks: [pack] });
  const answers = [task.ground_truth, half];
  const { dialogues, moved } = calledSchema.parse(
    await askNeighbour(
      [path.resolve('test/neighbours/play_tools.py'), server.url, realModel().folder, ...answers],
      { python: await trainersPython() },
    ),
  );
  expect(dialogues).toHaveLength(8);
  for (const { reward, agent, colleague } of dialogues) {
    // The model is trained on its two calls and its last words, and on nothing that it was told.
    const said = agent.split('<|im_end|>');
    expect(said).toEqual([
      expect.stringContaining('"name": "ask"'),
      expect.stringContaining('"name": "answer"'),
      expect.stringContaining('Bye.'),
      '',
    ]);
    expect(reward).toBe(said[1]!.includes('2 * number') ? 1 : 0.5);
    expect(colleague).toContain('It doubles prices.');
    expect(colleague).toContain('Thank you, the task is over.');
    expect(colleague).not.toContain('def double');
  }
  expect(new Set(dialogues.map(({ reward }) => reward))).toEqual(new Set([0.5, 1]));
  expect(moved).toBe(true);
});
