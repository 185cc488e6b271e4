import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runLogged } from '../../../../scripts/setup/command.mjs';
import { root } from '../../../../scripts/setup/project.mjs';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-commands-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a quiet command writes to its log', async () => {
  const log = path.join(folder, 'logs', 'quiet.log');
  await runLogged(process.execPath, ['-e', 'console.log("done"); console.error("and said")'], {
    cwd: folder,
    log,
  });
  expect(await readFile(log, 'utf8')).toBe('done\nand said\n');
});

test('a quiet command that fails shows the end of its log and where the rest is', async () => {
  const log = path.join(folder, 'loud.log');
  const script = 'for (let line = 1; line <= 100; line++) console.log(`line ${line}`); process.exitCode = 3';
  const failure: unknown = await runLogged(process.execPath, ['-e', script], { cwd: folder, log }).catch(
    (error: unknown) => error,
  );
  expect(String(failure)).toContain(`ended with status 3. The end of its output, all of it in ${log}:`);
  expect(String(failure)).toContain('line 100');
  expect(String(failure)).not.toContain('line 70\n');
});

test('a command that does not exist is told by its name', async () => {
  const running = runLogged('no-such-command', [], { cwd: folder, log: path.join(folder, 'none.log') });
  await expect(running).rejects.toThrow('no-such-command could not be started');
});

test.skipIf(process.platform === 'win32')(
  'a process group on a leash ends with the one who held it, also when that one is killed',
  async () => {
    // The holder starts a leash with a shell that forks a sleeper, prints the sleeper's id, and is killed.
    const leash = path.join(root, 'scripts', 'workbench', 'leash.mjs');
    const holder = spawn(
      process.execPath,
      [
        '-e',
        `const { spawn } = require('node:child_process');
         spawn(process.execPath, [${JSON.stringify(leash)}, 'sh', '-c', 'sleep 300 & echo $!; wait'],
           { stdio: ['pipe', 'inherit', 'inherit'], detached: true });
         setInterval(() => {}, 1000);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = (await once(createInterface(holder.stdout), 'line')) as [string];
    const sleeper = Number(line);
    expect(isAlive(sleeper)).toBe(true);
    holder.kill('SIGKILL');
    while (isAlive(sleeper)) await pause(50);
  },
);

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
