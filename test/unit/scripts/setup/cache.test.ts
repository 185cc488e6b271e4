import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cacheFolder, installOnce } from '../../../../scripts/setup/cache.mjs';

let cache: string;
let target: string;
beforeEach(async () => {
  cache = await mkdtemp(path.join(tmpdir(), 'tandem-cache-'));
  target = path.join(cache, 'thing-1');
});
afterEach(() => rm(cache, { recursive: true }));

test('the cache is where the environment says, else where the system keeps caches', () => {
  expect(cacheFolder({ TANDEM_CACHE: '/a/b', XDG_CACHE_HOME: '/c' })).toBe(path.resolve('/a/b'));
  expect(cacheFolder({ XDG_CACHE_HOME: '/c' })).toBe(path.join('/c', 'tandem'));
  expect(cacheFolder({})).toBe(path.join(homedir(), '.cache', 'tandem'));
  expect(cacheFolder({ TANDEM_CACHE: '', XDG_CACHE_HOME: '' })).toBe(
    path.join(homedir(), '.cache', 'tandem'),
  );
});

test('two that want the same thing at once install it once', async () => {
  let installs = 0;
  const install = async (folder: string): Promise<void> => {
    installs++;
    await pause(300);
    await writeFile(path.join(folder, 'file'), 'whole');
  };
  await Promise.all([installOnce(target, install), installOnce(target, install)]);
  await installOnce(target, install);
  expect(installs).toBe(1);
  expect(await readFile(path.join(target, 'file'), 'utf8')).toBe('whole');
  expect(await readdir(cache)).toEqual(['thing-1']);
});

test('an install that fails leaves nothing, and the next one succeeds', async () => {
  const failing = installOnce(target, async (folder) => {
    await writeFile(path.join(folder, 'half'), '');
    throw new Error('the line is dead');
  });
  await expect(failing).rejects.toThrow('the line is dead');
  expect(await readdir(cache)).toEqual([]);
  await installOnce(target, () => Promise.resolve());
  expect(existsSync(target)).toBe(true);
});

test('a process that was killed blocks nobody, and what it had begun is removed', async () => {
  await mkdir(`${target}.part-begun`);
  const lock = `${target}.lock`;
  await writeFile(lock, '');
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(lock, longAgo, longAgo);
  await installOnce(target, () => Promise.resolve());
  expect(await readdir(cache)).toEqual(['thing-1']);
});
