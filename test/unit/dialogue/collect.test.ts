import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { collect, type CollectionPlan } from '../../../src/core/dialogue/collect';
import { Dialogue } from '../../../src/core/dialogue/dialogue';
import { colBenchProtocol } from '../../../src/core/dialogue/protocol';
import { ModelSimulator, RulesSimulator } from '../../../src/core/dialogue/simulator';
import type { Grader } from '../../../src/core/grading/grader';
import { OpenAiModel } from '../../../src/core/model/openai';
import { loadTasks } from '../../../src/core/task/pack';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { startChatServer } from '../../fixtures/chat-server';
import { stallAfter } from '../../fixtures/chat-server-replies';
import { answers, asks, scripted, shippedPrompts, starterPack } from '../../fixtures/dialogue';
import { hold } from '../../fixtures/held-model';
import { openLog, segmentFiles, temporaryFolder } from '../../fixtures/log';

/** Makes a grader with scripted grades; real grading has its own tests. */
const graderThat = (grade: Grader['grade']): Grader => ({
  grade,
  checkReference: () => Promise.resolve([]),
  weakTests: () => Promise.resolve([]),
  close: () => Promise.resolve(),
});

const passing = graderThat((task, _, { mode }) =>
  Promise.resolve({
    mode,
    reward: 1,
    success: true,
    tests: task.testCases.map(() => ({ status: 'passed', milliseconds: 1 })),
  }),
);

let folder: string;
let log: TrajectoryLog;

beforeEach(async () => {
  folder = await temporaryFolder();
  log = await openLog(path.join(folder, '.tandem'));
});

async function plan(changes: Partial<CollectionPlan> = {}): Promise<CollectionPlan> {
  const { tasks } = await loadTasks(starterPack);
  return {
    log,
    agent: await scripted(folder, [asks('Which limit?'), answers('x = 1')]),
    simulator: new RulesSimulator(),
    prompts: await shippedPrompts(),
    sampling: { temperature: 1, maxTokens: 100 },
    tasks: tasks.slice(0, 4).map((task) => ({ task })),
    rollouts: 2,
    concurrency: 3,
    seed: 1,
    protocol: colBenchProtocol,
    grader: passing,
    mode: 'fixed',
    collection: 'collection-test',
    ...changes,
  };
}

describe('collecting', () => {
  it('tells how many of the dialogues that it plays are solved, and leaves those from before out', async () => {
    let grades = 0;
    const every = graderThat((_, __, { mode }) => {
      const success = [true, false, null, false][grades++ % 4] ?? null;
      return Promise.resolve({ mode, reward: success === null ? null : Number(success), success, tests: [] });
    });
    const told: (readonly [number, number, number])[] = [];
    const onProgress: CollectionPlan['onProgress'] = ({ done, graded, solved }) =>
      told.push([done, graded, solved]);
    const result = await collect(await plan({ grader: every, concurrency: 1, onProgress }));
    expect(result).toMatchObject({ total: 8, done: 8, graded: 6, solved: 2 });
    expect(told).toContainEqual([4, 3, 1]);
    const more = await collect(await plan({ rollouts: 3 }));
    expect(more).toMatchObject({ total: 12, done: 12, already: 8, graded: 4, solved: 4 });
  });

  it('plays in shards, each dialogue in one of them, what one alone plays', async () => {
    const of = 3;
    const shards = await Promise.all(
      [1, 2, 3].map(async (index) => collect(await plan({ shard: { index, of } }))),
    );
    expect(shards.map(({ total, done }) => [total, done])).toEqual([
      [3, 3],
      [3, 3],
      [2, 2],
    ]);
    const alone = await collect(await plan());
    expect(alone).toMatchObject({ total: 8, done: 8, already: 8 });
    expect(log.list({ offset: 0, limit: 20 }).total).toBe(8);
    expect(await collect(await plan({ shard: { index: 2, of } }))).toMatchObject({ total: 3, already: 3 });
  });

  it('grades an answered dialogue that a broken grader left, and plays nothing again', async () => {
    const broken = graderThat(() => Promise.reject(new Error('the grader is broken')));
    await expect(collect(await plan({ grader: broken }))).rejects.toThrow();
    await collect(await plan());
    const { rows, total } = log.list({ offset: 0, limit: 100 });
    expect(total).toBe(8);
    expect(rows.every(({ grades }) => grades.fixed?.success === true)).toBe(true);
  });

  it('plays dialogues anew whose task the log lost, and no others', async () => {
    await collect(await plan());
    await log.close();
    const [file] = await segmentFiles(path.join(folder, '.tandem'));
    const text = await readFile(file!, 'utf8');
    await writeFile(file!, text.replace('"description":', '"description";'));
    log = await openLog(path.join(folder, '.tandem'));
    expect(log.problems).toHaveLength(1);
    await expect(collect(await plan())).resolves.toMatchObject({ done: 8, already: 6 });
    await expect(collect(await plan())).resolves.toMatchObject({ done: 8, already: 8 });
  });

  it('stops a simulator that rambles, in each reply, and logs what it wrote until then', async () => {
    const rambling = 'It is ten kilograms, I think. '.repeat(100);
    await using server = await startChatServer({ reply: () => stallAfter(rambling, { countsSoFar: true }) });
    const model = new OpenAiModel({ model: 's', baseUrl: server.url });
    const simulator = new ModelSimulator(model, await shippedPrompts());
    await expect(collect(await plan({ simulator }))).resolves.toMatchObject({ done: 8, failed: 0 });
    expect(await Promise.all(server.requests.map(({ ended }) => ended))).toEqual(Array(8).fill('hung up'));
    let completionTokens = 0;
    for (const { id } of log.list({ offset: 0, limit: 100 }).rows) {
      const { reply } = (await log.trajectory(id))!.turns[0]!;
      expect(reply?.text).toBe(rambling.slice(0, 400));
      expect(rambling.startsWith(reply!.fullText!)).toBe(true);
      expect(reply!.fullText!.length).toBeLessThan(520);
      completionTokens += reply!.usage!.completionTokens;
    }
    // Each dialogue got about a hundred of its 600 words.
    expect(completionTokens).toBeLessThan(8 * 110);
    expect(model.counts).toMatchObject({ requests: 8, completionTokens, answersWithoutUsage: 0 });
  });

  it('refuses a second collector of the same collection while the first works', async () => {
    const grading = Promise.withResolvers<undefined>();
    const refused = Promise.withResolvers<undefined>();
    const grader = graderThat(async (...given) => {
      grading.resolve(undefined);
      await refused.promise;
      return passing.grade(...given);
    });
    const first = collect(await plan({ grader }));
    await grading.promise;
    const other = await TrajectoryLog.open(path.join(folder, '.tandem'));
    await expect(collect(await plan({ log: other }))).rejects.toThrow(/collection-test/);
    refused.resolve(undefined);
    await other.close();
    await expect(first).resolves.toMatchObject({ done: 8 });
    await expect(collect(await plan())).resolves.toMatchObject({ done: 8, already: 8 });
  });

  it('leaves a begun dialogue alone that a window has open, and goes on with it later', async () => {
    const broken = graderThat(() => Promise.reject(new Error('the grader is broken')));
    await expect(collect(await plan({ grader: broken, rollouts: 1, concurrency: 1 }))).rejects.toThrow();
    const [begun] = log.list({ offset: 0, limit: 1 }).rows;
    const window = await TrajectoryLog.open(path.join(folder, '.tandem'));
    const claim = await window.claim(`episode-${begun!.id}`, 'This dialogue');
    const result = await collect(await plan({ rollouts: 1 }));
    expect(result).toMatchObject({ total: 4, done: 3, failed: 1 });
    expect(result.failures[0]!.message).toContain('A dialogue of this collection');
    await claim.release();
    await window.close();
    expect(await collect(await plan({ rollouts: 1 }))).toMatchObject({ done: 4, failed: 0 });
  });

  describe('of which a person has taken dialogues over', () => {
    /** Begins a dialogue of the collection, which is left after the agent's question, and gives a person the seat. */
    async function takenOver(): Promise<Dialogue> {
      const settings = await plan({ rollouts: 1 });
      const { task } = settings.tasks[0]!;
      const { kind, name } = settings.simulator;
      const rollout = { task, collaborator: { kind, name }, seed: 1, rollout: 0 };
      const dialogue = await Dialogue.start({ ...settings, ...rollout });
      await dialogue.agentTurn();
      await dialogue.handOver({ kind: 'developer', name: 'kim' });
      return dialogue;
    }

    it.each(['left', 'finished'] as const)('plays another for one that they have %s', async (how) => {
      const theirs = await takenOver();
      if (how === 'finished') {
        await theirs.reply('No limit.', { author: 'developer', by: 'kim' });
        await theirs.agentTurn();
        await theirs.grade(passing, 'fixed');
      }
      const before = await log.trajectory(theirs.id);
      expect(await collect(await plan({ rollouts: 1 }))).toMatchObject({ total: 4, done: 4, failed: 0 });
      expect(await log.trajectory(theirs.id)).toEqual(before);
      expect(log.list({ offset: 0, limit: 9 }).total).toBe(5);
      expect(await collect(await plan({ rollouts: 1 }))).toMatchObject({ done: 4, already: 4 });
    });
  });

  it('stops at once when it is cancelled, and goes on later', async () => {
    const cancel = new AbortController();
    const agent = await scripted(folder, [asks('Which limit?'), answers('x = 1')]);
    let begun = 0;
    // All dialogues but the first two are in the middle of their first message when it is cancelled.
    const { model } = hold(agent, ({ position }) => position?.turn === 1 && ++begun > 2);
    const cancelled = collect(
      await plan({
        agent: model,
        signal: cancel.signal,
        onProgress: ({ done }) => done >= 2 && cancel.abort(),
      }),
    );
    await expect(cancelled).rejects.toThrow();
    expect(log.list({ filter: { state: 'abandoned' }, offset: 0, limit: 100 }).total).toBeGreaterThan(0);
    await expect(collect(await plan({ agent }))).resolves.toMatchObject({ done: 8, failed: 0 });
    expect(log.list({ offset: 0, limit: 100 }).total).toBe(8);
  });
});
