import { expect, it, onTestFinished } from 'vitest';
import { EnvironmentServer } from '../../../src/core/environment/server';
import { valuesOf } from '../../../src/core/environment/values';
import type { Grader } from '../../../src/core/grading/grader';
import type { Model } from '../../../src/core/model/model';
import { answers, asks, starterTask } from '../../fixtures/dialogue';
import { environmentPlan } from '../../fixtures/environment';

const task = await starterTask();
const { signal } = new AbortController();

/** Stand-in grader: an answer is worth the number in it, and one without a number cannot be graded. */
const grader = {
  grade: (_: unknown, answer: string) => {
    const number = /\d\.\d+/.exec(answer)?.[0];
    const reward = number === undefined ? null : Number(number);
    return Promise.resolve({
      mode: 'fixed',
      success: reward === 1,
      reward,
      tests: [],
      notGradable: 'No number.',
    });
  },
} as unknown as Grader;

/** Passes a quarter of the tests, and all once it was told the surcharge. */
const agent: Model = {
  name: 'informed',
  generate: (messages) => {
    const isTold = messages.some(({ role, content }) => role === 'user' && content.includes('4.50'));
    const text = answers(isTold ? '1.00' : '0.25');
    return Promise.resolve({ text, finishReason: 'stop', timing: { totalMs: 0, attempts: 1 } });
  },
};

const plan = { ...(await environmentPlan([task], grader)), valueAgent: agent };
const surcharge = asks('How much is the surcharge?');
const request = (score: string, more: object = {}) => ({
  ...{ score, samples: 2, with_history: true },
  states: [{ task_id: task.id, candidates: [surcharge, answers('0.75'), answers('none')] }],
  ...more,
});

it('values candidates by forced answers, and says what the simulator replies', async () => {
  const { agent: by, forcing, states } = await valuesOf(plan, request('answer-now'), signal);
  expect([by, forcing]).toEqual(['informed', 'last-turn']);
  const [asked, answered, ungraded] = states[0]!.candidates;
  expect(states[0]!.history).toEqual({ value: 0.25 });
  expect(asked).toMatchObject({ value: 1, ended: false });
  expect(asked!.reply).toContain('4.50');
  expect(answered).toEqual({ value: 0.75, ended: true });
  expect(ungraded!.value).toBeNull();
  expect(ungraded!.why).toContain('No number.');
});

it('values candidates by dialogues played to their end, after the history that is sent', async () => {
  const { states } = await valuesOf(plan, request('monte-carlo'), signal);
  expect(states[0]!.history).toEqual({ value: 0.25 });
  expect(states[0]!.candidates.slice(0, 2)).toEqual([
    { value: 1, ended: false },
    { value: 0.75, ended: true },
  ]);
  const history = [{ agent: surcharge, reply: 'It is 4.50.' }];
  const after = await valuesOf(
    plan,
    request('monte-carlo', { states: [{ task_id: task.id, history }] }),
    signal,
  );
  expect(after.states).toEqual([{ history: { value: 1 }, candidates: [] }]);
});

it('is served by POST, and refuses another form, an unknown task, and to value without a model', async () => {
  const server = await EnvironmentServer.start({
    ...{ plan, host: '127.0.0.1', port: 0, capacity: 1, idleMilliseconds: 60_000 },
    onTrouble: () => undefined,
  });
  onTestFinished(() => server.close());
  const post = async (body: object) => {
    const response = await fetch(`${server.address}/values`, { method: 'POST', body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  expect(await post(request('answer-now'))).toMatchObject({ status: 200, body: { agent: 'informed' } });
  expect(await post(request('magic'))).toMatchObject({ status: 422 });
  expect(await post(request('answer-now', { states: [{ task_id: 'none' }] }))).toMatchObject({ status: 400 });
  const without = { ...plan, valueAgent: undefined };
  await expect(valuesOf(without, request('answer-now'), signal)).rejects.toMatchObject({
    code: 'environment/no-agent',
  });
});
