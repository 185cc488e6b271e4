import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import type { Trajectory } from '../../../src/core/trajectory/trajectory';
import { startChatServer } from '../../fixtures/chat-server';
import { answer as reply, stallAfter, status } from '../../fixtures/chat-server-replies';
import { answers, asks, starterPack, starterTask } from '../../fixtures/dialogue';
import { RawClient, serveEnvironment } from '../../fixtures/environment';
import { eventually } from '../../fixtures/eventually';
import { startServing } from '../../fixtures/serving';
import { tandem } from '../cli/tandem';

let folder: string;
let data: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-serve-'));
  data = path.join(folder, '.tandem');
  process.env.TANDEM_CACHE = path.join(folder, 'cache');
});

afterEach(async () => {
  delete process.env.TANDEM_CACHE;
  await rm(folder, { recursive: true, force: true });
});

/** Reads all trajectories of a data folder, as another process would. */
async function logged(of = data): Promise<Trajectory[]> {
  const log = await TrajectoryLog.open(of);
  const ids = log.list({ offset: 0, limit: 10_000 }).rows.map(({ id }) => id);
  const all = await Array.fromAsync(log.trajectories(ids));
  await log.close();
  return all;
}

/** Returns why the abandoned episodes of the log were, sorted. */
const abandoned = async (): Promise<string[]> =>
  (await logged()).flatMap((episode) => episode.abandoned?.message ?? []).sort();

const question = asks('From which weight on does it cost more?');

describe('tandem serve', () => {
  it('plays an episode, whose task and wording follow from a seed where one is given', async () => {
    await using server = await serveEnvironment();
    const task = await starterTask();
    const client = await RawClient.connect(server.url);

    const begun = await client.reset({ task_id: task.id });
    expect(begun).toMatchObject({ type: 'observation', data: { reward: null, done: false } });
    expect(begun.data.observation).toMatchObject({ message: task.description, turn: 0 });
    expect(begun.data.observation?.prompt).toContain('I WANT TO ANSWER:');

    const replied = await client.say(question);
    expect(replied.data).toMatchObject({ reward: 0, done: false, observation: { turn: 1 } });
    expect(replied.data.observation?.message).not.toBe('');
    expect(replied.data.metadata).toMatchObject({ task: task.id, turn_limit: 10, leak: { leaked: false } });

    const ended = await client.answer(task.reference);
    const passed = { tests: task.testCases.length, tests_passed: task.testCases.length };
    expect(ended.data).toMatchObject({ reward: 1, done: true, observation: { message: '', turn: 2 } });
    expect(ended.data.metadata).toMatchObject({ ended: 'answered', mode: 'fixed', success: true, ...passed });
    const state = await client.exchange({ type: 'state' });
    expect(state).toMatchObject({ type: 'state', data: { step_count: 2, task: task.id, done: true } });
    client.send({ type: 'close' });
    await client.closed;

    const seeded = await RawClient.connect(server.url);
    const play = async (seed: number) => {
      const begun = await seeded.reset({ seed });
      const { data: replied } = await seeded.say('OUTPUT:\nWhat should I know?');
      return [begun.data.metadata?.task, replied.observation?.message];
    };
    expect(await play(11)).toEqual(await play(11));
    const tasks = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async (seed) => (await seeded.reset({ seed })).data),
    );
    expect(new Set(tasks.map(({ metadata }) => metadata?.task)).size).toBeGreaterThan(1);
  });

  it('logs what collect logs for the same messages, besides the agent’s sampling', async () => {
    const script = path.join(folder, 'agent.json');
    const turns = [question, asks('How much more?'), answers('def f(): return 1')];
    await writeFile(script, JSON.stringify({ turns }));
    const shared = ['--simulator', 'rules', '--seed', '7', '--limit', '3'];
    const other = path.join(folder, 'collected');
    const collected = await tandem(
      ...['collect', '--tasks', starterPack, '--agent', `script:${script}`],
      ...[...shared, '--jobs', '1', '--data', other],
    );
    expect(collected.code, collected.stderr).toBe(0);

    const server = await serveEnvironment([...shared, '--data', data, '--agent-name', 'checkpoint-100']);
    const client = await RawClient.connect(server.url);
    for (let task = 0; task < 3; task++) {
      await client.reset();
      for (const turn of turns) await client.say(turn);
    }
    expect(await server.stop()).toBe(0);

    const byServer = await logged();
    expect(byServer.map(({ started }) => started.agent)).toEqual(Array(3).fill('checkpoint-100'));
    expect(byServer.map(({ started }) => started.collection)).toEqual(
      Array(3).fill(expect.stringMatching(/^environment-/)),
    );
    const byTask = (all: Trajectory[]) =>
      Object.fromEntries(all.map((one) => [one.task.id, comparable(one)]));
    expect(byTask(byServer)).toEqual(byTask(await logged(other)));
  });

  it('counts rollouts on where the log ends, and lets no second server write the same ones', async () => {
    for (const rollout of [0, 1]) {
      await using server = await serveEnvironment(['--limit', '1', '--data', data]);
      const client = await RawClient.connect(server.url);
      await client.reset();
      await client.say(question);
      const second = ['serve', '--tasks', starterPack, '--limit', '1', '--data', data];
      expect(await tandem(...second)).toMatchObject({ code: 1 });
      await server.stop();
      expect((await logged()).map(({ started }) => started.rollout).sort()).toEqual(
        [0, 1].slice(0, rollout + 1),
      );
    }
  });

  it('logs an episode as abandoned when its client says nothing for too long', async () => {
    await using server = await serveEnvironment(['--data', data, '--idle-minutes', '0.1']);
    // A machine may be so slow that a client is too late with its first messages; then another one begins.
    const silent = await eventually(async () => {
      const client = await RawClient.connect(server.url);
      expect(await client.reset()).toMatchObject({ type: 'observation' });
      expect(await client.say(question)).toMatchObject({ type: 'observation' });
      return client;
    });
    expect(await silent.next()).toMatchObject({ type: 'error', data: { code: 'SESSION_ERROR' } });
    expect(await silent.closed).toBe(1000);
    await eventually(async () =>
      expect(await logged()).toContainEqual(
        expect.objectContaining({
          state: 'abandoned',
          turns: [expect.anything()],
          abandoned: expect.objectContaining({
            message: expect.stringContaining('No message came') as string,
          }) as object,
        }),
      ),
    );
    expect(new Set(await abandoned()).size, 'nothing else ends an episode').toBe(1);
  });

  it('answers no more than a client reads, and ends one that reads nothing', async () => {
    await using server = await serveEnvironment(['--capacity', '1', '--idle-minutes', '0.05']);
    const deaf = await RawClient.connect(server.url);
    await deaf.reset();
    let heard = 0;
    deaf.socket.on('message', () => heard++);
    deaf.socket.pause();
    const asked = 20_000;
    for (let sent = 0; sent < asked; sent++) deaf.send({ type: 'reset', data: {} });
    await eventually(async () => {
      const next = await RawClient.connect(server.url);
      const { type } = await next.reset();
      next.socket.close();
      expect(type).toBe('observation');
    });
    deaf.socket.resume();
    await deaf.closed;
    expect(heard).toBeLessThan(asked);
  });

  it('ends at Ctrl+C with every open episode in the log', async () => {
    const server = await serveEnvironment(['--data', data, '--json']);
    const clients = await Promise.all(Array.from({ length: 5 }, () => RawClient.connect(server.url)));
    await Promise.all(
      clients.map(async (client) => {
        await client.reset();
        await client.say(question);
      }),
    );
    expect(await server.stop()).toBe(0);
    for (const client of clients) {
      expect(await client.next()).toMatchObject({ type: 'error', data: { code: 'SESSION_ERROR' } });
      await client.closed;
    }
    expect((await logged()).map(({ abandoned }) => abandoned?.message)).toEqual(
      Array(5).fill(expect.stringContaining('stopped')),
    );
  });

  it('ends when its standard input ends, which a program that starts it asks for', async () => {
    // The fixture gives it an empty input.
    await using server = await serveEnvironment(['--end-with-input']);
    expect(await server.exited).toBe(0);
  });

  it('ends an episode whose simulator fails, with the reason for the client and in the log', async () => {
    await using chat = await startChatServer({ reply: () => status(400, { message: 'No such model' }) });
    await using server = await serveEnvironment(['--data', data, '--simulator', `openai:m@${chat.url}`]);
    const client = await RawClient.connect(server.url);
    await client.reset();
    const failed = await client.say(question);
    expect(failed).toMatchObject({ type: 'error', data: { code: 'EXECUTION_ERROR' } });
    expect(failed.data.message).toContain('No such model');
    expect(await client.say(question)).toMatchObject({ data: { fault: 'environment/over' } });
    expect(await client.reset()).toMatchObject({ type: 'observation' });
    await eventually(async () =>
      expect((await logged()).map(({ abandoned }) => abandoned)).toMatchObject([{ reason: 'failed' }]),
    );
  });

  it('lets a model simulate, and stops asking it when the client has gone', async () => {
    await using chat = await startChatServer({
      reply: ({ index }) => (index === 0 ? reply('Above 20 kilos.') : stallAfter('Above')),
    });
    await using server = await serveEnvironment(['--data', data, '--simulator', `openai:m@${chat.url}`]);
    const client = await RawClient.connect(server.url);
    await client.reset();
    const replied = await client.say(question);
    expect(replied.data.observation?.message).toBe('Above 20 kilos.');
    expect(replied.data.metadata).toHaveProperty('usage.prompt_tokens');
    client.send({ type: 'step', data: { message: question } });
    const asked = await chat.request(1);
    client.socket.terminate();
    expect(await asked.ended).toBe('hung up');
    await eventually(async () => expect((await logged()).map(({ state }) => state)).toEqual(['abandoned']));
  });
});

/** Leaves out what differs between any two plays: ids, times, who sampled and how. */
function comparable({ task, started, turns, answer: final, grades, state }: Trajectory) {
  const { pack, collaborator, protocol, prompts, seed, rollout } = started;
  return {
    task,
    started: { pack, collaborator, protocol, prompts, seed, rollout },
    turns: turns.map(({ agent, reply: said, leak }) => ({
      agent: { turn: agent.turn, text: agent.text },
      reply: said && { text: said.text, author: said.author, by: said.by, turn: said.turn },
      leak: leak && { fraction: leak.fraction, leaked: leak.leaked },
    })),
    answer: final && { answer: final.answer, reason: final.reason, turn: final.turn },
    grades: grades.map(({ grade }) => ({ ...grade, tests: grade.tests.map(({ status }) => status) })),
    state,
  };
}

describe('tandem serve --play', () => {
  it.each([
    [['--simulator', 'rules'], '--simulator'],
    [['--address', 'lab.example/play'], '--address'],
    [['--host', '0.0.0.0'], '--address'],
    [['--tasks', 'samples/workspace/web-pages.jsonl'], 'web pages'],
  ])('refuses %j in one sentence', async (args, word) => {
    const { code, stderr } = await tandem('serve', '--play', '--tasks', starterPack, ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(word);
  });

  it('prints a link with a token of its own, or the address alone where the token is given', async () => {
    await using server = await startServing(['--play', '--tasks', starterPack, '--data', data]);
    expect(server.url).toMatch(/#[\w-]{32}$/);
    const given = { TANDEM_SERVE_TOKEN: 'given-by-the-lab' };
    await using other = await startServing(['--play', '--tasks', starterPack, '--data', data], given);
    expect(other.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});
