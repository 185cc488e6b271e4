import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { mayLive as trainerMayLive } from '../../../src/core/training/process';
import { beginOf, isRunning, look } from '../../../src/core/trajectory/running';
import { livingOwner, mayLive } from '../../../src/core/trajectory/segment/owner';
import { temporaryFolder } from '../../fixtures/log';

it('sees this process, and when it began', async () => {
  const began = await beginOf(process.pid);
  expect(began).toMatch(/^\d+$/);
  expect(await look(process.pid)).toEqual({ began });
  expect(await mayLive({ pid: process.pid, host: hostname(), began })).toBe(true);
  expect(await mayLive({ pid: process.pid, host: hostname(), began: `${began}0` })).toBe(false);
});

/** The number of a process that has ended and for whose exit status its parent never asks. */
async function zombie(): Promise<number> {
  // The shell becomes `sleep`, which knows nothing of the child that it inherits; so the child must outlive the shell.
  const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
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
    expect(await trainerMayLive({ pid, host: hostname(), started: '2020-01-01T00:00:00Z' })).toBe(false);
    const file = join(await temporaryFolder(), 'segment.jsonl.owner');
    await writeFile(file, JSON.stringify(owner));
    expect(await livingOwner(file)).toBeUndefined();
  },
);
