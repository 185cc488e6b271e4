import { spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { startChatServer, type ChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { answers, asks, starterPack } from '../../fixtures/dialogue';

const KILLS = 3;
const TASKS = 6;
const ROLLOUTS = 4;

let folder: string;
let data: string;
let server: ChatServer;
/** Emits `turn` whenever an agent is asked for one. */
let asked: EventEmitter;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-collect-'));
  data = path.join(folder, '.tandem');
  // The agent asks twice, then answers; it is slow, so that a kill can hit any moment.
  asked = new EventEmitter();
  server = await startChatServer({
    reply: async ({ body }) => {
      asked.emit('turn');
      await wait(40 + Math.random() * 120);
      const turn = (body.messages.length + 1) / 2;
      return answer(turn < 3 ? asks(`Question ${turn}: what is the limit?`) : answers('def f(): return 1'));
    },
  });
});

afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function collect(): ChildProcess {
  const args = ['collect', '--tasks', starterPack, '--limit', String(TASKS), '--rollouts', String(ROLLOUTS)];
  const models = ['--agent', `openai:m@${server.url}`, '--simulator', 'rules', '--concurrency', '8'];
  return spawn(
    process.execPath,
    ['dist/tandem.js', ...args, ...models, '--data', data, '--jobs', '1', '--json'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TANDEM_CACHE: folder },
    },
  );
}

/** Returns all whole lines of the log, by segment. */
async function lines(): Promise<Map<string, string[]>> {
  const logFolder = path.join(data, 'log');
  const segments = (await readdir(logFolder).catch(() => [])).filter((name) => name.endsWith('.jsonl'));
  const read = async (name: string): Promise<[string, string[]]> => {
    const text = await readFile(path.join(logFolder, name), 'utf8');
    return [name, text.split('\n').slice(0, -1)];
  };
  return new Map(await Promise.all(segments.map(read)));
}

describe('tandem collect', () => {
  it(`continues after ${KILLS} kills at random moments, repeats nothing finished and loses nothing logged`, async () => {
    let before = await lines();
    for (let kill = 0; kill < KILLS; kill++) {
      const child = collect();
      const exited = once(child, 'exit');
      // Some kills come before the first turn, because an early kill must lose nothing either.
      if (kill % 3 > 0) await Promise.race([exited, once(asked, 'turn')]);
      await Promise.race([exited, wait(Math.random() * 600)]);
      child.kill('SIGKILL');
      await exited;
      const after = await lines();
      for (const [segment, was] of before) expect(after.get(segment)?.slice(0, was.length)).toEqual(was);
      before = after;
    }

    const last = collect();
    const [code] = (await once(last, 'exit')) as [number];
    expect(code).toBe(0);

    const log = await TrajectoryLog.open(data);
    const all = log.list({ offset: 0, limit: 10_000 });
    const jobs = all.rows.map((row) => `${row.taskId}#${row.rollout}`);
    expect(new Set(jobs).size, 'every rollout of every task').toBe(TASKS * ROLLOUTS);
    expect(jobs.length, 'no rollout was begun a second time').toBe(TASKS * ROLLOUTS);
    for (const row of all.rows) {
      const { turns, answer: final, grades } = (await log.trajectory(row.id))!;
      expect(turns.map(({ agent }) => agent.turn)).toEqual([1, 2, 3]);
      expect(final?.answer).toContain('return 1');
      expect(grades, 'graded once').toHaveLength(1);
    }
    expect(log.problems.length, 'only torn last lines').toBeLessThanOrEqual(KILLS);
    await log.close();
  });
});
