import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { serveEnvironment } from '../fixtures/environment';
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
