import { expect, it } from 'vitest';
import { beginEpisode } from '../../../src/core/environment/episode';
import type { Grader } from '../../../src/core/grading/grader';
import type { Fault } from '../../../src/core/fault';
import { answers, asks, starterTask } from '../../fixtures/dialogue';
import { environmentPlan } from '../../fixtures/environment';

const task = await starterTask();
const question = asks('How much is the surcharge?');
const history = [{ agent: question, reply: 'It is 4.50.' }];

const grader = {
  grade: () => Promise.resolve({ mode: 'fixed', success: true, reward: 1, tests: [] }),
} as unknown as Grader;

const noLog = () => Promise.reject(new Error('This is logged.'));
const plan = await environmentPlan([task], grader, { recordTask: noLog, append: noLog, appendAll: noLog });

const step = (message: string) => ({ kind: 'message' as const, message, metadata: {} });

it('goes on from a history that the simulator has heard, and logs nothing', async () => {
  const episode = beginEpisode(plan, { task_id: task.id, seed: 1, history });
  expect(await episode.open()).toMatchObject({ message: task.description, turn: 1, metadata: { seed: 1 } });
  const asked = await episode.step(step(question));
  expect(asked).toMatchObject({ turn: 2, done: false });
  expect(asked.message).toContain('4.50');
  const answered = await episode.step(step(answers('def f(): pass')));
  expect(answered).toMatchObject({ turn: 3, done: true, reward: 1 });
});

it('draws other wordings under another seed, and the same ones under the same seed', async () => {
  const replies = async (seeds: readonly number[]): Promise<string[]> =>
    Promise.all(
      seeds.map(async (seed) => {
        const episode = beginEpisode(plan, { task_id: task.id, seed, history });
        return (await episode.step(step(asks('Which colour should it have?')))).message;
      }),
    );
  const once = await replies([1, 2, 3, 4, 5, 6]);
  expect(new Set(once).size).toBeGreaterThan(1);
  expect(await replies([1, 2, 3, 4, 5, 6])).toEqual(once);
});

it('an empty history begins at the request, and logs nothing', async () => {
  const episode = beginEpisode(plan, { task_id: task.id, history: [] });
  expect((await episode.step(step(question))).turn).toBe(1);
});

it('counts the history towards the limit of turns', async () => {
  const short = { ...plan, protocol: { ...plan.protocol, maxTurns: 2 } };
  const episode = beginEpisode(short, { task_id: task.id, history });
  expect(await episode.step(step(question))).toMatchObject({ done: true, metadata: { ended: 'turn-limit' } });
});

it.each([
  ['answers', [...history, { agent: answers('def f(): pass'), reply: 'Thanks.' }]],
  ['reaches the limit of turns', Array.from({ length: 10 }, () => history[0]!)],
])('refuses a history that %s', (_, over) => {
  expect(() => beginEpisode(plan, { task_id: task.id, history: over })).toThrow(
    expect.objectContaining({ code: 'environment/over' } satisfies Partial<Fault>),
  );
});
