import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { syncFolder } from '../../../src/core/trajectory/files';
import {
  beginOf,
  isRunning,
  look,
  mayLive,
  SignOfLife,
  standsFor,
} from '../../../src/core/trajectory/heartbeat';
import { livingOwner } from '../../../src/core/trajectory/claim';
import { eventually } from '../../fixtures/eventually';
import { openLog, play, segmentFiles, temporaryFolder } from '../../fixtures/log';

it('sees this process, and when it began', async () => {
  const began = await beginOf(process.pid);
  expect(began).toMatch(/^\d+$/);
  expect(await look(process.pid)).toEqual({ began });
  expect(await mayLive({ pid: process.pid, host: hostname(), began })).toBe(true);
  expect(await mayLive({ pid: process.pid, host: hostname(), began: `${began}0` })).toBe(false);
});

it.runIf(process.platform === 'linux')(
  'knows a process by its command line where its start was not recorded, if it is told which',
  async () => {
    const one = { pid: process.pid, host: hostname() };
    const known = [mayLive(one), mayLive({ ...one, began: null }, 'node'), mayLive(one, 'tandem_trainer')];
    expect(await Promise.all(known)).toEqual([true, true, false]);
    const began = await beginOf(process.pid);
    expect(await mayLive({ ...one, began }, 'tandem_trainer')).toBe(true);
  },
);

it('takes a process of another machine for alive, because it cannot be asked', async () => {
  expect(await mayLive({ pid: process.pid, host: 'elsewhere', began: '0' })).toBe(true);
});

/** Returns the id of a zombie: an ended process whose parent never reads its exit status. */
async function zombie(): Promise<number> {
  // The shell becomes `sleep`, which never waits for the inherited child; so the child must outlive the shell: it ends
  // when its input does.
  const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout!, 'data')) as [Buffer];
  const pid = Number(line.toString());
  await expect.poll(() => readFile(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
  (parent.stdio[3] as Writable).end();
  await expect.poll(() => look(pid)).toBe('gone');
  return pid;
}

it.runIf(process.platform === 'linux')(
  'takes one that ended and was not asked for by its parent for gone, as a writer and as a trainer',
  async () => {
    const pid = await zombie();
    expect(isRunning(pid)).toBe(true);
    const owner = { pid, host: hostname(), began: null };
    expect(await mayLive(owner)).toBe(false);
    expect(await mayLive({ pid, host: hostname() }, 'cat')).toBe(false);
    const file = join(await temporaryFolder(), 'segment.jsonl.owner');
    await writeFile(file, JSON.stringify(owner));
    expect(await livingOwner(file)).toBeUndefined();
  },
);

const MINUTE = 60_000;

/** Makes a file look as if it had not been written for so many minutes. */
async function age(file: string, minutes: number): Promise<void> {
  const at = new Date(Date.now() - minutes * MINUTE);
  await utimes(file, at, at);
}

function putClockOn(minutes: number): void {
  const now = Date.now() + minutes * MINUTE;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  onTestFinished(() => void vi.restoreAllMocks());
}

it('a process of another machine lives as long as it writes to its file, and ten minutes more', async () => {
  const file = join(await temporaryFolder(), 'it.owner');
  const other = { pid: process.pid, host: 'elsewhere', began: '0' };
  expect(await standsFor(file, other)).toBe(false);
  await writeFile(file, 'it');
  expect(await standsFor(file, other)).toBe(true);
  await age(file, 9);
  expect(await standsFor(file, other)).toBe(true);
  await age(file, 11);
  expect(await standsFor(file, other)).toBe(false);
  // The clock of the share decides, where it is known.
  expect(await standsFor(file, other, Date.now() - 2 * MINUTE)).toBe(true);
  expect(await standsFor(file, { ...other, host: hostname(), began: null })).toBe(true);
});

it('a sign of life is the same text, written again every 30 seconds until its end', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const file = join(await temporaryFolder(), 'it.owner');
  await writeFile(file, 'this process');
  const sign = new SignOfLife(file, 'this process');
  const written = async (): Promise<number> => (await stat(file)).mtimeMs;
  for (let round = 0; round < 2; round += 1) {
    await age(file, 11);
    vi.advanceTimersByTime(30_000);
    await eventually(async () => expect(Date.now() - (await written())).toBeLessThan(10 * MINUTE));
    expect(await readFile(file, 'utf8')).toBe('this process');
  }
  await sign.end();
  await sign.end();
  vi.advanceTimersByTime(60_000);
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

it('a process that was taken for dead while its machine slept notices, and leaves what is now of another', async () => {
  const file = join(await temporaryFolder(), 'it.owner');
  await writeFile(file, 'this process');
  const sign = new SignOfLife(file, 'this process');
  await rm(file);
  putClockOn(11);
  expect(await sign.isStanding()).toBe(false);
  await writeFile(file, 'another process');
  await sign.end();
  expect(await readFile(file, 'utf8')).toBe('another process');
});

it('a log that slept so long goes on in another segment, and one that was not missed in its own', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await play(log, 'before', 1);
  const [first] = await segmentFiles(folder);
  putClockOn(11);
  await play(log, 'unnoticed', 1);
  expect(await segmentFiles(folder)).toEqual([first]);
  await rm(`${first}.owner`);
  putClockOn(11);
  await play(log, 'after', 1);
  expect(await segmentFiles(folder)).toHaveLength(2);
  expect(log.count()).toMatchObject({ total: 3, successes: 3 });
  await log.close();
  expect((await readdir(join(folder, 'log'))).filter((name) => name.endsWith('.owner'))).toEqual([]);
});

it.runIf(process.platform === 'linux')(
  'a folder of a file system that cannot make names durable is passed over',
  async () => {
    await syncFolder('/proc/self');
    await syncFolder(await temporaryFolder());
    await expect(syncFolder('/nowhere')).rejects.toThrow('ENOENT');
  },
);
