import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { agentMessages } from '../../../src/core/dialogue/conversation';
import { askedIn } from '../../../src/core/dialogue/factMatcher';
import { Prompts } from '../../../src/core/dialogue/prompts';
import { Chat } from '../../../src/core/model/local/chat';
import { openAgent, openModel } from '../../../src/core/model/spec';
import { starterTasks } from '../../../src/core/task/starter/world';
import type { Task } from '../../../src/core/task/task';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { commandFolder, json, tandem } from './tandem';

const { folder } = commandFolder();
const options = { shipped: path.resolve('dist'), inference: path.resolve('dist/inference.js') };
const opened = [openModel('starter', options), openAgent('guided:starter,eta=0', options)];
const guided = openAgent('guided:starter,eta=4', options);
afterAll(async () => {
  for (const model of [...opened, guided]) await model.close?.();
});

const prompts = await Prompts.load(path.resolve('dist/prompts'));
const world = starterTasks({ split: 'development', seed: 3, difficulty: 'standard' });
const tasks = Array.from({ length: 8 }, () => world.next().value.task);
const messagesOf = (task: Task) => agentMessages(task, [], { maxTurns: 6, replyLimit: 400 }, prompts);
const hiddenIn = (task: (typeof tasks)[number]) =>
  ({ kind: 'program', text: task.hiddenInformation }) as const;
const sampling = { temperature: 1, maxTokens: 40 };

test('without guidance a teacher writes what its model writes', async () => {
  for (const [seed, task] of tasks.slice(0, 3).entries()) {
    const [plain, taught] = await Promise.all(
      opened.map((model) =>
        model.generate(messagesOf(task), { ...sampling, seed }, { hidden: hiddenIn(task) }),
      ),
    );
    expect(taught!.tokens!.ids).toEqual(plain!.tokens!.ids);
    for (const [at, logprob] of taught!.tokens!.logprobs!.entries())
      expect(logprob).toBeCloseTo(plain!.tokens!.logprobs![at]!, 3);
  }
});

test('a teacher asks for what the hidden code decides, and its prompt is without that', async () => {
  const chat = new Chat(path.resolve('media/starter'));
  for (const task of tasks) {
    const messages = messagesOf(task);
    const said = await guided.generate(
      messages,
      { temperature: 0, maxTokens: 40 },
      { hidden: hiddenIn(task) },
    );
    expect(
      askedIn(task, said.text, undefined).map(({ fact }) => fact?.topic),
      said.text,
    ).not.toContain(undefined);
    expect(said.promptTokenIds).toEqual(chat.encode(messages));
    expect(said.sawHidden).toBe(true);
  }
});

const evaluated = z.object({
  summary: z.object({ agents: z.array(z.object({ agent: z.string(), missedDecisions: z.number() })) }),
});

test('tandem evaluate compares a teacher with its model, and the log says what it saw', async () => {
  const [pack, data] = [path.join(folder, 'pack.jsonl'), path.join(folder, 'data')];
  await tandem('world', pack, '--tasks', '24', '--split', 'development');
  const { summary } = await json(
    evaluated,
    ...['evaluate', '--tasks', pack, '--simulator', 'rules', '--max-turns', '6', '--data', data],
    ...['--temperature', '1', '--jobs', '1', '--agent', 'starter', 'guided:starter,eta=4'],
  );
  const [start, teacher] = summary.agents;
  expect(teacher!.missedDecisions).toBeLessThan(start!.missedDecisions);
  const log = await TrajectoryLog.open(data);
  try {
    const { rows } = log.list({ filter: {}, sort: 'newest', offset: 0, limit: 48 });
    expect(rows).toHaveLength(48);
    for await (const { agent, turns } of log.trajectories(rows.map(({ id }) => id))) {
      const saw = agent === 'starter' ? undefined : true;
      expect(turns.every((turn) => turn.agent.sawHidden === saw)).toBe(true);
    }
  } finally {
    await log.close();
  }
});
