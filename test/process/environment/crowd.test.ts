import path from 'node:path';
import { queryObjects } from 'node:v8';
import { afterEach, expect, it, vi } from 'vitest';
import { Dialogue } from '../../../src/core/dialogue/dialogue';
import { AgentEpisode } from '../../../src/core/environment/episode';
import { EnvironmentServer, EnvironmentSession } from '../../../src/core/environment/server';
import { createGrader } from '../../../src/core/grading/grader';
import type { ProgramTask } from '../../../src/core/task/task';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { answers, asks } from '../../fixtures/dialogue';
import { environmentPlan, RawClient } from '../../fixtures/environment';
import { eventually } from '../../fixtures/eventually';
import { temporaryFolder } from '../../fixtures/log';
import { mutations, starterPack } from '../../fixtures/starter';

const CLIENTS = 1000;
const KINDS = 10;
const ONE_KIND = CLIENTS / KINDS;

afterEach(() => vi.unstubAllEnvs());

const question = asks('From which weight on does it cost more?');
const step = (fields: object): object => ({ type: 'step', data: fields });

/** A client in its episode, which has asked one question. */
interface Guest {
  readonly client: RawClient;
  readonly task: ProgramTask;
  /** An answer, and the reward that it deserves. */
  readonly wrong: { readonly code: string; readonly reward: number };
}

const rightly = async ({ client, task }: Guest): Promise<void> => {
  expect((await client.answer(task.reference)).data).toMatchObject({ reward: 1, done: true });
};

const wrongly = async ({ client, wrong }: Guest): Promise<void> => {
  expect((await client.answer(wrong.code)).data).toMatchObject({ reward: wrong.reward, done: true });
};

const afterMoreQuestions = async (guest: Guest): Promise<void> => {
  for (let turn = 2; turn < 6; turn++) {
    expect((await guest.client.say(question)).data).toMatchObject({ observation: { turn }, done: false });
  }
  await rightly(guest);
};

const afterGarbage = async (guest: Guest): Promise<void> => {
  const { client } = guest;
  for (const [garbage, code] of [
    ['{"type":', 'INVALID_JSON'],
    [Buffer.from([0xff, 0, 1]), 'INVALID_JSON'],
    [{ type: 'toString' }, 'UNKNOWN_TYPE'],
    [step({ message: 'a', kind: 'shout' }), 'VALIDATION_ERROR'],
    [step({ message: answers('pass'), kind: 'ask' }), 'VALIDATION_ERROR'],
    [{ type: 'reset', data: { task_id: 'none' } }, 'EXECUTION_ERROR'],
  ] as const) {
    expect(await client.exchange(garbage)).toMatchObject({ type: 'error', data: { code } });
  }
  await rightly(guest);
};

const twiceAtOnce = async ({ client, task, wrong }: Guest): Promise<void> => {
  client.send(step({ message: wrong.code, kind: 'answer' }));
  client.send(step({ message: task.reference, kind: 'answer' }));
  expect((await client.next()).data).toMatchObject({ reward: wrong.reward, done: true });
  expect(await client.next()).toMatchObject({ type: 'error', data: { code: 'EXECUTION_ERROR' } });
};

const dyingWhileAsked = async ({ client }: Guest): Promise<void> => {
  client.send(step({ message: question }));
  client.socket.terminate();
  await client.closed;
};

const dyingWhileGraded = async ({ client, task }: Guest): Promise<void> => {
  await new Promise((sent) =>
    client.socket.send(JSON.stringify(step({ message: task.reference, kind: 'answer' })), sent),
  );
  client.socket.terminate();
  await client.closed;
};

/** Sends without reading, and dies. */
const flooding = async ({ client }: Guest): Promise<void> => {
  client.socket.pause();
  for (let message = 0; message < 20; message++) client.send(message % 2 === 0 ? { type: 'state' } : '{');
  client.socket.terminate();
  await client.closed;
};

/** Says nothing any more. */
const waiting = (): Promise<void> => Promise.resolve();

const behaviours = [
  ...[rightly, wrongly, afterMoreQuestions, rightly, afterGarbage],
  ...[twiceAtOnce, dyingWhileAsked, dyingWhileGraded, flooding, waiting],
];

const left = (): number[] =>
  [EnvironmentSession, AgentEpisode, Dialogue].map((kind) => queryObjects(kind, { format: 'count' }));

const processes = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length;

it('plays a thousand episodes at once, with clients of every bad kind, and keeps nothing of them', async () => {
  const data = await temporaryFolder();
  vi.stubEnv('TANDEM_CACHE', path.join(data, 'cache'));
  const tasks = await starterPack();
  const others = processes();
  const grader = await createGrader({ assets: path.resolve('dist'), workers: 2 });
  const log = await TrajectoryLog.open(path.join(data, '.tandem'));
  const plan = await environmentPlan(tasks, grader, log);
  const troubles: string[] = [];
  const server = await EnvironmentServer.start({
    ...{ plan, host: '127.0.0.1', port: 0, capacity: CLIENTS, idleMilliseconds: 30 * 60_000 },
    onTrouble: (sentence) => troubles.push(sentence),
  });
  const deserved = new Map(
    await Promise.all(
      tasks.map(async (task) => {
        const code = Object.values(mutations[task.id]!)[0]!;
        const { reward } = await grader.grade(task, code, { mode: 'fixed' });
        return [task.id, { code, reward: reward! }] as const;
      }),
    ),
  );

  expect(processes()).toBe(others + 1);
  const guests = await Promise.all(
    Array.from({ length: CLIENTS }, async (): Promise<Guest> => {
      const client = await RawClient.connect(server.address);
      const { metadata } = (await client.reset()).data;
      const task = tasks.find(({ id }) => id === metadata!.task)!;
      expect((await client.say(question)).data).toMatchObject({ reward: 0, done: false });
      return { client, task, wrong: deserved.get(task.id)! };
    }),
  );
  const refused = await RawClient.connect(server.address);
  expect((await refused.next()).data).toMatchObject({ code: 'CAPACITY_REACHED', active_sessions: CLIENTS });
  await refused.closed;

  await Promise.all(guests.map((guest, index) => behaviours[index % KINDS]!(guest)));
  for (const { client } of guests.filter((_, index) => behaviours[index % KINDS] !== waiting)) {
    client.socket.close();
    await client.closed;
  }
  await eventually(() => expect(left()).toEqual([ONE_KIND, ONE_KIND, ONE_KIND]));

  await server.close();
  for (const { client } of guests.filter((_, index) => behaviours[index % KINDS] === waiting)) {
    expect(await client.next()).toMatchObject({ type: 'error', data: { code: 'SESSION_ERROR' } });
    await client.closed;
  }
  await grader.close();
  await eventually(() => expect(left()).toEqual([0, 0, 0]));
  await eventually(() => expect(processes(), 'no grader is left').toBe(others));
  expect(troubles).toEqual([]);

  const rows = log.list({ offset: 0, limit: 2 * CLIENTS }).rows;
  const all = await Array.fromAsync(log.trajectories(rows.map(({ id }) => id)));
  await log.close();
  expect(new Set(all.map(({ task, started }) => `${task.id}#${started.rollout}`)).size).toBe(CLIENTS);
  expect(all.every(({ grades, state }) => grades.length === (state === 'abandoned' ? 0 : 1))).toBe(true);
  const ends = Object.groupBy(all, ({ abandoned }) => abandoned?.message ?? 'graded');
  expect(Object.fromEntries(Object.entries(ends).map(([why, some]) => [why, some!.length]))).toEqual({
    graded: 7 * ONE_KIND,
    'The client disconnected before the answer.': 2 * ONE_KIND,
    'The server was stopped before the answer.': ONE_KIND,
  });
});
