import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildOnce } from '../../../../scripts/setup/built.mjs';

let folder: string;
let made: number;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-built-'));
  made = 0;
  await write('src/extension.ts', 'one');
  await write('test/unit/some.test.ts', 'one');
  await write('node_modules/.package-lock.json', 'one');
});
afterEach(() => rm(folder, { recursive: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  await writeFile(path.join(folder, file), text);
}

/** Requests a build again. @returns the total number of builds */
async function built(make: () => Promise<void> = () => write('dist/extension.js', 'built')): Promise<number> {
  const record = path.join(folder, 'test-results', 'build.sha256');
  await buildOnce(folder, record, async () => {
    made += 1;
    await make();
  });
  return made;
}

test('what is built is not built again, whatever the times of the files and the tests beside it', async () => {
  expect(await built()).toBe(1);
  await utimes(path.join(folder, 'src/extension.ts'), new Date(), new Date());
  await write('test/unit/some.test.ts', 'two');
  await write('src/__pycache__/some.pyc', 'one');
  expect(await built()).toBe(1);
});

test.each(['src/extension.ts', 'src/new.ts', 'a-new-folder/docs/new.md', 'node_modules/.package-lock.json'])(
  'it is built again when %s has other contents',
  async (file) => {
    await built();
    await write(file, 'two');
    expect(await built()).toBe(2);
    expect(await built()).toBe(2);
  },
);

test('it is built again when a source was removed or renamed', async () => {
  await write('src/other.ts', 'one');
  await built();
  await rm(path.join(folder, 'src/other.ts'));
  expect(await built()).toBe(2);
  await write('src/another.ts', 'one');
  expect(await built()).toBe(3);
});

test('it is built again when the output is not what the last build made', async () => {
  await built();
  await write('dist/extension.js', 'of another build');
  expect(await built()).toBe(2);
  await write('dist/chunk.js', 'left over');
  expect(await built()).toBe(3);
  await rm(path.join(folder, 'dist'), { recursive: true });
  expect(await built()).toBe(4);
});

test('it is built again after a build that failed', async () => {
  await expect(built(() => Promise.reject(new Error('no esbuild')))).rejects.toThrow('no esbuild');
  expect(await built()).toBe(2);
});

test('it is built again when a source changed while it was built', async () => {
  await built(() => write('src/extension.ts', 'two'));
  expect(await built()).toBe(2);
});
