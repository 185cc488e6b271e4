import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installedAsLocked, root, usable } from '../../../../scripts/setup/project.mjs';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-project-'));
});
afterEach(() => rm(folder, { recursive: true }));

const zod = { 'node_modules/zod': { integrity: 'sha512-zod' } };
const lit = { 'node_modules/lit': { integrity: 'sha512-lit' } };
const macOnly = { 'node_modules/fsevents': { integrity: 'sha512-fsevents', optional: true } };

async function write({ locked, installed }: { locked: object; installed?: object }): Promise<void> {
  await writeFile(
    path.join(folder, 'package-lock.json'),
    JSON.stringify({ packages: { '': { name: 'tandem' }, ...locked } }),
  );
  if (installed === undefined) return;
  await mkdir(path.join(folder, 'node_modules'));
  const list = path.join(folder, 'node_modules', '.package-lock.json');
  await writeFile(list, JSON.stringify({ packages: installed }));
}

test('packages count as installed when they are those of the lock, without those of other platforms', async () => {
  await write({ locked: { ...zod, ...lit, ...macOnly }, installed: { ...zod, ...lit } });
  expect(installedAsLocked(folder)).toBe(true);
});

test('packages are installed anew when there are none', async () => {
  await write({ locked: zod });
  expect(installedAsLocked(folder)).toBe(false);
});

test('packages are installed anew when an install did not come to its end', async () => {
  await write({ locked: zod });
  await mkdir(path.join(folder, 'node_modules', 'zod'), { recursive: true });
  expect(installedAsLocked(folder)).toBe(false);
});

test('packages are installed anew when the lock has gained one, lost one, or changed one', async () => {
  await write({ locked: { ...zod, ...lit }, installed: zod });
  expect(installedAsLocked(folder)).toBe(false);
  await write({ locked: {} });
  expect(installedAsLocked(folder)).toBe(false);
  await write({ locked: { 'node_modules/zod': { integrity: 'sha512-newer' } } });
  expect(installedAsLocked(folder)).toBe(false);
});

test("this clone's packages are those of its lock", () => {
  expect(installedAsLocked(root)).toBe(true);
});

test('a Node that is new enough is used, an older one is refused with what to do', () => {
  expect(usable('22.13.0')).toBe(process.execPath);
  expect(usable('26.1.0')).toBe(process.execPath);
  expect(() => usable('22.12.0')).toThrow(
    /needs Node 22\.13 or newer, this is 22\.12\.0.*install a newer Node/,
  );
  expect(() => usable('20.20.2')).toThrow('this is 20.20.2');
});
