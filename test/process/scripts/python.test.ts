import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ensurePythonEnvironment } from '../../../scripts/python.mjs';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-python-'));
  vi.stubEnv('TANDEM_CACHE', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

test('an environment is made once, in the cache, and says so once', async () => {
  const requirements = path.join(folder, 'requirements.txt');
  await writeFile(requirements, '# nothing from outside\n');
  const said: string[] = [];
  const [first, second] = await Promise.all([
    ensurePythonEnvironment('nothing', requirements, (line) => said.push(line)),
    ensurePythonEnvironment('nothing', requirements, () => undefined),
  ]);
  const third = await ensurePythonEnvironment('nothing', requirements, (line) => said.push(line));
  expect(new Set([first, second, third]).size).toBe(1);
  expect(said).toHaveLength(2);
  const prefix = execFileSync(first, ['-c', 'import sys; print(sys.prefix)'], { encoding: 'utf8' });
  expect(prefix.startsWith(path.join(folder, 'python', 'nothing-'))).toBe(true);
});
