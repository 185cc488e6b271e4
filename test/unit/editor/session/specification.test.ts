import { afterEach, beforeEach, expect, it } from 'vitest';
import { simulatorWith } from '../../../../src/core/dialogue/openSimulator';
import type { Model } from '../../../../src/core/model/model';
import { Session } from '../../../../src/editor/session/session';
import { asks, scripted, shippedPrompts, starterTask } from '../../../fixtures/dialogue';
import { ada, Stage } from '../stage';

let stage: Stage;
beforeEach(async () => (stage = await Stage.set()));
afterEach(() => stage.clear());

const NAME = 'specification:openai:m,persona=terse';

const model: Model = {
  name: 'openai:m',
  generate: () =>
    Promise.resolve({
      ...{ text: 'I END THE CONVERSATION: You do not listen.', finishReason: 'stop' },
      timing: { totalMs: 1, attempts: 1 },
    }),
};

async function session(specified: boolean): Promise<Session> {
  const { facts: _, ...task } = await starterTask();
  const check = { by: 'openai:checker', passed: 9, tests: 10 };
  const specification = { requirements: ['Heavy is over 20 kilograms.'], check };
  stage.simulator = simulatorWith(model, NAME, await shippedPrompts());
  stage.agent = await scripted(stage.folder, [asks('When is it heavy?')]);
  return Session.ofTask(stage, { task: { ...task, ...(specified && { specification }) } }, stage.drafts);
}

it('names a simulator with the doubt about its specification, and cannot use one without', async () => {
  const { snapshot } = await session(true);
  expect(snapshot.state.called).toMatchObject({ [NAME]: `${NAME} (the specification failed its check)` });
  expect(snapshot.state.needsSimulator).toBeUndefined();
  expect((await session(false)).snapshot.state.needsSimulator).toBe(true);
});

it('is over and graded when the simulator ends the dialogue', async () => {
  const begun = await session(true);
  await begun.do({ type: 'start', consent: ada });
  await begun.do({ type: 'simulator-on' });
  expect(begun.state).toMatchObject({ phase: 'over', grade: { verdict: 'failed' } });
  expect((await stage.trajectory(begun.id)).answer).toMatchObject({ reason: 'ended-by-simulator' });
});
