import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../../fixtures/eventually';
import { SignOfLife, standsFor } from '../../../src/core/trajectory/signOfLife';
import { openLog, play, segmentFiles, temporaryFolder } from '../../fixtures/log';

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
