import { expect, it } from 'vitest';
import { clientSimulator, type EnvironmentPlan, beginEpisode } from '../../../src/core/environment/episode';
import type { Grade } from '../../../src/core/grading/grade';
import type { Grader } from '../../../src/core/grading/grader';
import { answers, asks, scripted, starterTask } from '../../fixtures/dialogue';
import { environmentPlan } from '../../fixtures/environment';
import { openLog, temporaryFolder } from '../../fixtures/log';

const graded = { mode: 'fixed', reward: 1, success: true, tests: [] } as unknown as Grade;
const grader = { grade: () => Promise.resolve(graded) } as unknown as Grader;

/** Begins an episode whose client is the collaborator of an agent with these turns. */
async function begin(...turns: readonly string[]) {
  const task = await starterTask();
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  const plan: EnvironmentPlan = {
    ...(await environmentPlan([task], grader, log)),
    seat: 'collaborator',
    agent: await scripted(folder, turns),
    sampling: { temperature: 1, maxTokens: 64 },
    simulator: clientSimulator('grpo-test'),
  };
  const episode = beginEpisode(plan, {});
  const logged = async (id: string) => (await Array.fromAsync(log.trajectories([id])))[0]!;
  return { task, episode, logged };
}

const reply = (message: string) => ({ kind: 'message' as const, message, metadata: {} });

it('hands the collaborator what a simulator reads, and takes its replies until the agent answers', async () => {
  const { task, episode, logged } = await begin(
    ...[asks('From which weight on?'), asks('And then?'), answers('def f(): pass')],
  );
  const opened = await episode.open();
  expect(opened).toMatchObject({ message: 'From which weight on?', turn: 1, done: false, reward: null });
  expect(opened.prompt).toContain(task.hiddenInformation);
  expect(opened.prompt).not.toContain('I am not sure.');

  const second = await episode.step(reply('<think>Hm.</think>You: From 20 kg on.'));
  expect(second).toMatchObject({ message: 'And then?', turn: 2, done: false, reward: 0 });
  expect(second.prompt).toContain('Assistant: From which weight on?\n\nYou: From 20 kg on.');
  expect(second.metadata.leak).toMatchObject({ leaked: false });

  const last = await episode.step(reply(task.reference));
  expect(last).toMatchObject({ message: '', turn: 3, done: true, reward: 1 });
  expect(last.metadata).toMatchObject({ ended: 'answered', success: true, leak: { leaked: true } });
  expect(last.prompt).toBeUndefined();
  expect(episode.state).toMatchObject({ step_count: 2, done: true });

  const { collaborator, turns } = await logged(last.metadata.episode);
  expect(collaborator).toEqual({ kind: 'simulator', name: 'grpo-test' });
  expect(turns[0]!.reply).toMatchObject({ author: 'simulator', text: 'From 20 kg on.' });
});

it('is over at once when the agent asks nothing', async () => {
  const { episode } = await begin(answers('def f(): pass'));
  expect(await episode.open()).toMatchObject({ turn: 1, done: true, reward: 1 });
  await expect(episode.step(reply('Hello?'))).rejects.toMatchObject({ code: 'environment/over' });
});

it('fails a dialogue whose collaborator says nothing', async () => {
  const { episode, logged } = await begin(asks('From which weight on?'));
  await episode.open();
  const silent = await episode.step(reply('You:'));
  expect(silent).toMatchObject({ done: true, reward: 0, metadata: { ended: 'empty-reply', success: false } });
  expect((await logged(silent.metadata.episode)).state).toBe('abandoned');
});
