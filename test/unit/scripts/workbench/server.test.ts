import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installFolder, testFlags, workbenchAddress } from '../../../../scripts/workbench/server.mjs';

let folder: string;
let userData: string;
let list: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-folder-'));
  userData = path.join(folder, 'user-data');
  list = path.join(userData, 'extensions', 'extensions.json');
  await writeVersion('0.1.0');
});
afterEach(() => rm(folder, { recursive: true }));

const writeVersion = (version: string): Promise<void> =>
  writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ publisher: 'tandem', name: 'tandem', version }),
  );

const installed = async (): Promise<unknown> => JSON.parse(await readFile(list, 'utf8')) as unknown;

const entry = (version: string) => ({
  identifier: { id: 'tandem.tandem' },
  version,
  location: { $mid: 1, scheme: 'file', path: folder },
  metadata: { source: 'resource' },
});

test('a working folder is installed where it stands', async () => {
  installFolder(userData, folder);
  expect(await installed()).toEqual([entry('0.1.0')]);
});

test('a later version takes the place of the earlier one, and the other extensions stay', async () => {
  const other = {
    identifier: { id: 'someone.else' },
    version: '3.0.0',
    relativeLocation: 'someone.else-3.0.0',
  };
  await mkdir(path.dirname(list), { recursive: true });
  await writeFile(list, JSON.stringify([entry('0.1.0'), other]));
  await writeVersion('0.2.0');
  installFolder(userData, folder);
  expect(await installed()).toEqual([other, entry('0.2.0')]);
});

test('a list of extensions that was cut off is told by its name', async () => {
  await mkdir(path.dirname(list), { recursive: true });
  await writeFile(list, '[{');
  expect(() => installFolder(userData, folder)).toThrow(`${list} is not JSON: remove it`);
});

test('the address names the folder alone, and the extension only for a server of the tests', () => {
  expect(workbenchAddress('127.0.0.1:4000', { workspace: '/w' })).toBe('http://127.0.0.1:4000/?folder=%2Fw');
  expect(workbenchAddress('127.0.0.1:4000', { workspace: '/w', extension: '/e' })).toContain(
    'extensionDevelopmentPath',
  );
  expect(testFlags()).toContain('enable-smoke-test-driver');
});
