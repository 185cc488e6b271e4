import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { summarize } from '../../../src/core/trajectory/fold';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import {
  agentTurn,
  answered,
  doubling,
  graded,
  leak,
  openLog,
  reply,
  started,
  takeSealsAway,
  temporaryFolder,
} from '../../fixtures/log';

/** Shifts the times of all lines in the log, as if this machine's clock had been wrong until now. */
async function shift(folder: string, milliseconds: number): Promise<void> {
  for (const name of await readdir(join(folder, 'log'))) {
    const file = join(folder, 'log', name);
    const text = await readFile(file, 'utf8');
    const shifted = text.replaceAll(
      /"at":"([^"]*)"/g,
      (_, at: string) => `"at":"${new Date(Date.parse(at) + milliseconds).toISOString()}"`,
    );
    await writeFile(file, shifted);
  }
  await takeSealsAway(folder);
}

async function expectWhole(log: TrajectoryLog, episode: string, turns: number): Promise<void> {
  const trajectory = await log.trajectory(episode);
  expect(trajectory).toMatchObject({ state: 'answered', grades: [{ grade: { reward: 1 } }] });
  expect(trajectory?.damaged).toBeUndefined();
  expect(trajectory?.turns.map(({ agent, reply: answer }) => [agent.turn, answer?.turn])).toEqual(
    Array.from({ length: turns }, (_, index) => [index + 1, index + 1 < turns ? index + 1 : undefined]),
  );
  expect(log.summary(episode)).toEqual(summarize(trajectory!));
}

describe('the order of an episode that several processes wrote', () => {
  it('is that of appending, also when the clock was turned back by an hour in between', async () => {
    const folder = await temporaryFolder();
    const before = await openLog(folder);
    await before.recordTask(doubling);
    await before.appendAll([started('e1'), agentTurn('e1', 1)]);
    await before.close();
    await shift(folder, 3_600_000);

    const after = await openLog(folder);
    await after.appendAll([reply('e1', 1), leak('e1', 1), agentTurn('e1', 2)]);
    await after.appendAll([answered('e1', 2), graded('e1', 1)]);
    await expectWhole(after, 'e1', 2);
    await expectWhole(await openLog(folder), 'e1', 2);
    await rm(join(folder, 'index'), { recursive: true, force: true });
    await expectWhole(await openLog(folder), 'e1', 2);
  });

  it('is that of appending, also when the machine has lost its clock in between', async () => {
    const folder = await temporaryFolder();
    const before = await openLog(folder);
    await before.recordTask(doubling);
    await before.appendAll([started('e1'), agentTurn('e1', 1)]);
    await before.close();
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const after = await openLog(folder);
    await after.appendAll([reply('e1', 1), leak('e1', 1), agentTurn('e1', 2)]);
    await after.appendAll([answered('e1', 2), graded('e1', 1)]);
    await after.close();
    vi.useRealTimers();
    await expectWhole(await openLog(folder), 'e1', 2);
  });

  it('is that of appending, also when everything happens in the same millisecond', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') });
    onTestFinished(() => void vi.useRealTimers());
    const folder = await temporaryFolder();
    const logs = await Promise.all([1, 2, 3].map(() => openLog(folder, { segmentBytes: 1_500 })));
    await Promise.all(logs.map((log) => log.recordTask(doubling)));
    const episodes = Array.from({ length: 4 }, (_, number) => `e${number}`);
    let steps = 0;
    /** Appends events from a new process each time, with segments so small that it starts many. */
    const append = async (...events: Parameters<TrajectoryLog['append']>[0][]): Promise<void> => {
      const log = logs[(steps += 1) % logs.length]!;
      await log.refresh();
      for (const event of events) await log.append(event);
    };
    for (const episode of episodes) {
      await append(started(episode));
      for (let turn = 1; turn < 5; turn += 1) await append(agentTurn(episode, turn), reply(episode, turn));
      await append(agentTurn(episode, 5), answered(episode, 5), graded(episode, 1));
    }
    await logs[0]!.refresh();
    for (const log of [logs[0]!, await openLog(folder)]) {
      for (const episode of episodes) await expectWhole(log, episode, 5);
    }
  });
});
