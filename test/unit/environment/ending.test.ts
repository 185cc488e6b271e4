import { expect, it } from 'vitest';
import type { Simulator } from '../../../src/core/dialogue/simulator';
import { beginEpisode } from '../../../src/core/environment/episode';
import type { Grader } from '../../../src/core/grading/grader';
import { asks, starterTask } from '../../fixtures/dialogue';
import { environmentPlan } from '../../fixtures/environment';

const grader = {
  grade: (_: unknown, answer: string) =>
    Promise.resolve({ mode: 'fixed', success: answer !== '', reward: Number(answer !== ''), tests: [] }),
} as unknown as Grader;

it('a simulator that ends the dialogue ends the episode without an answer', async () => {
  const task = await starterTask();
  const simulator: Simulator = {
    ...{ kind: 'simulator', name: 'impatient' },
    reply: () => Promise.resolve({ text: 'You do not listen.', endsDialogue: true }),
  };
  const plan = { ...(await environmentPlan([task], grader)), simulator };
  const episode = beginEpisode(plan, { task_id: task.id });
  const message = asks('When is it heavy?');
  expect(await episode.step({ kind: 'message', message, metadata: {} })).toMatchObject({
    ...{ done: true, reward: 0 },
    metadata: { ended: 'ended-by-simulator', success: false },
  });
});
