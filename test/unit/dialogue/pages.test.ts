import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { collect, collectionName } from '../../../src/core/dialogue/collect';
import { colBenchPageProtocol, colBenchProtocol } from '../../../src/core/dialogue/protocol';
import { RulesSimulator } from '../../../src/core/dialogue/simulator';
import type { Grader } from '../../../src/core/grading/grader';
import { scripted, shippedPrompts, starterTask } from '../../fixtures/dialogue';
import { dialoguesOfEachTest } from '../../fixtures/dialogues';
import { segmentFiles } from '../../fixtures/log';
import { bakery, pageOf, reader, shows } from '../../fixtures/pages';

const rules = { kind: 'rules', name: 'rules' } as const;
const dialogues = dialoguesOfEachTest();

const passing: Grader = {
  grade: (_task, _answer, { mode }) => Promise.resolve({ mode, reward: 1, success: true, tests: [] }),
  checkReference: () => Promise.resolve([]),
  weakTests: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};

const played = async (turns: readonly string[], maxTurns = 10) => {
  const dialogue = await dialogues.start(await scripted(dialogues.folder, turns), {
    ...{ task: bakery, collaborator: rules, pages: reader, protocol: { ...colBenchPageProtocol, maxTurns } },
  });
  await dialogue.play();
  await dialogue.grade(passing, 'fixed');
  return dialogues.logged(dialogue);
};

describe('a dialogue about a page', () => {
  it('logs what the simulator was shown, and a grade with each draft', async () => {
    const { task, started, turns, answer, grades } = await played([
      'Hello.',
      shows('Golden Crust'),
      `OUTPUT:\nI WANT TO ANSWER:\n${bakery.reference}`,
    ]);
    expect(task).toEqual(bakery);
    expect(Object.keys(started.prompts)).toEqual([
      'agent-page.md',
      'simulator-page.md',
      'simulator-outline.md',
    ]);
    expect(turns.map(({ reply, leak }) => [reply?.shown, leak?.fraction])).toEqual([
      [undefined, 0],
      ['differences', 0],
      [undefined, undefined],
    ]);
    expect(answer).toMatchObject({ answer: bakery.reference, reason: 'answered' });
    expect(grades[0]!.grade).toMatchObject({ reward: 1, page: { drafts: [{ turn: 2 }, { turn: 3 }] } });
    expect(dialogues.log.list({ filter: { outcome: 'not-graded' }, offset: 0, limit: 9 }).total).toBe(0);
  });

  it.each([
    ['the agent answers without one', [shows('Golden Crust'), 'OUTPUT:\nI WANT TO ANSWER:\nAs above.'], 10],
    ['the last turn has none', [shows('Golden Crust'), 'Any wishes?'], 2],
  ])('takes the last page that was shown for the answer where %s', async (_, turns, maxTurns) => {
    const { answer, grades } = await played(turns, maxTurns);
    expect(answer).toMatchObject({ turn: 2, answer: pageOf('Golden Crust') });
    expect(grades[0]!.grade.page!.drafts).toHaveLength(1);
  });

  it('has an empty answer and the score 0 without a page', async () => {
    const { answer, grades } = await played(['OUTPUT:\nI WANT TO ANSWER:\nNothing.']);
    expect(answer!.answer).toBe('');
    expect(grades[0]!.grade).toMatchObject({ reward: 0, success: null });
  });

  it('asks the agent for a page by a prompt of its own', async () => {
    const prompts = await shippedPrompts();
    const text = prompts.render('agent-page.md', { description: 'D', maxTurns: 10, replyLimit: 1000 });
    for (const part of ['OUTPUT:', 'I WANT TO ANSWER:', 'picsum.photos/id/48/W/H', '1000 characters'])
      expect(text).toContain(part);
  });

  it('cannot be played or graded where nothing draws pages', async () => {
    const agent = await scripted(dialogues.folder, [shows('Golden Crust')]);
    const dialogue = await dialogues.start(agent, { task: bakery, collaborator: rules });
    await dialogue.agentTurn();
    await expect(dialogue.simulatorReply()).rejects.toMatchObject({ code: 'task/page' });
    await dialogue.endNow();
    await expect(dialogue.grade(passing, 'fixed')).rejects.toMatchObject({ code: 'task/page' });
  });

  it('has a task line that older versions read', async () => {
    await played([shows('Golden Crust')], 1);
    const [file] = await segmentFiles(path.join(dialogues.folder, '.tandem'));
    const lines = (await readFile(file!, 'utf8')).trim().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ event: 'task', task: { ...bakery, testCases: [], hiddenInformation: '' } }),
    );
  });
});

it('a collection plays pages and functions, each with its own reply limit', async () => {
  const agent = await scripted(dialogues.folder, [`OUTPUT:\nI WANT TO ANSWER:\n${bakery.reference}`]);
  const tasks = [{ task: bakery }, { task: await starterTask() }];
  const settings = {
    ...{ agent, simulator: new RulesSimulator(), prompts: await shippedPrompts(), seed: 1 },
    ...{ sampling: { temperature: 1, maxTokens: 100 }, protocol: colBenchProtocol },
  };
  const collection = collectionName('collection', { ...settings, renderer: 'a test' });
  expect(collection).not.toBe(collectionName('collection', settings));
  const result = await collect({
    ...settings,
    ...{ log: dialogues.log, pages: reader, grader: passing, tasks, collection },
    ...{ rollouts: 1, concurrency: 2, mode: 'fixed' },
  });
  expect(result).toMatchObject({ done: 2, failed: 0, graded: 2, solved: 1 });
  const ids = [...dialogues.log.collected(collection).values()].map(({ episode }) => episode);
  const limits = new Map<string, number>();
  for await (const { task, started } of dialogues.log.trajectories(ids))
    limits.set(task.id, started.protocol.replyLimit);
  expect(limits).toEqual(
    new Map([
      ['bakery', 1000],
      [tasks[1]!.task.id, 400],
    ]),
  );
});
