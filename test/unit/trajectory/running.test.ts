import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { beginOf, isRunning, look, mayLive } from '../../../src/core/trajectory/running';
import { livingOwner } from '../../../src/core/trajectory/segment/owner';
import { temporaryFolder } from '../../fixtures/log';

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
