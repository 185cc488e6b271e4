import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, statfs, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  copyFolder,
  copyRegular,
  MB,
  openRegular,
  openRegularSync,
  readBytes,
  readInParts,
  readTextSync,
} from '../../src/core/regularFile';
import { goOnWithZeros, hasPipes, putDevice, putPipe } from '../fixtures/oddFiles';

let folder: string;
const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-regular-'));
  await writeFile(at('file'), 'text');
  await mkdir(at('folder'));
  await goOnWithZeros(at('sparse'));
  if (!hasPipes) return;
  await putPipe(at('pipe'));
  await symlink('pipe', at('link to a pipe'));
  await putDevice(at('link to a device'));
  await symlink('file', at('link to a file'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const unfit: readonly (readonly [name: string, code: string])[] = [
  ['folder', 'file/not-regular'],
  ['sparse', 'file/too-large'],
  ...(hasPipes
    ? (['pipe', 'link to a pipe', 'link to a device'] as const).map(
        (name) => [name, 'file/not-regular'] as const,
      )
    : []),
];

describe.each(unfit)('of a %s', (name, code) => {
  const isOpened = name !== 'sparse';

  test('nothing is read', async () => {
    await expect(readBytes(at(name), MB)).rejects.toMatchObject({ code });
    expect(() => readTextSync(at(name), MB)).toThrow(expect.objectContaining({ code }));
  });

  test.runIf(isOpened)('nothing is opened, appended to or copied', async () => {
    await expect(openRegular(at(name))).rejects.toMatchObject({ code });
    expect(() => openRegularSync(at(name))).toThrow(expect.objectContaining({ code }));
    await expect(openRegular(at(name), { flags: 'a' })).rejects.toMatchObject({ code });
    await expect(openRegular(at(name), { flags: 'a+' })).rejects.toMatchObject({ code });
    await expect(copyRegular(at(name), at('copy'))).rejects.toMatchObject({ code });
    expect(existsSync(at('copy'))).toBe(false);
  });
});

test('a file is read whole, and an absent one is named by the system', async () => {
  expect((await readBytes(at('file'), MB)).toString()).toBe('text');
  expect(readTextSync(at('file'), 4)).toBe('text');
  await expect(readBytes(at('none'), MB)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a file that is appended to is made when it is absent', async () => {
  const handle = await openRegular(at('made'), { flags: 'a', links: 'refused' });
  await handle.writeFile('one');
  await handle.close();
  expect(await readFile(at('made'), 'utf8')).toBe('one');
});

test.runIf(process.platform === 'linux')(
  'a file of the system without a size has the same limit',
  async () => {
    await expect(readBytes('/proc/self/status', 100)).rejects.toMatchObject({ code: 'file/too-large' });
    expect((await readBytes('/proc/self/status', MB)).toString()).toContain('Name:');
  },
);

describe.runIf(hasPipes)('a link to a file', () => {
  test('is read, and refused where what it leads to would be taken', async () => {
    expect((await readBytes(at('link to a file'), MB)).toString()).toBe('text');
    const refused = { links: 'refused' } as const;
    await expect(readBytes(at('link to a file'), MB, refused)).rejects.toMatchObject({
      code: 'file/not-regular',
    });
    await expect(openRegular(at('link to a file'), { ...refused, flags: 'a' })).rejects.toMatchObject({
      code: 'file/not-regular',
    });
  });

  test('is not copied with its folder, and neither is a folder that is a link', async () => {
    await mkdir(at('from/inner'), { recursive: true });
    await writeFile(at('from/inner/kept'), 'kept');
    await copyFolder(at('from'), at('whole'));
    expect(await readFile(at('whole/inner/kept'), 'utf8')).toBe('kept');
    await symlink(at('file'), at('from/inner/taken'));
    await expect(copyFolder(at('from'), at('to'))).rejects.toMatchObject({ code: 'file/not-regular' });
    expect(existsSync(at('to/inner/taken'))).toBe(false);
    await symlink('folder', at('linked folder'));
    await expect(copyFolder(at('linked folder'), at('other'))).rejects.toMatchObject({
      code: 'file/not-regular',
    });
  });
});

test('a sparse file larger than the disk is not copied', async () => {
  const { bavail, bsize } = await statfs(folder);
  await truncate(at('made'), bavail * bsize + 2 ** 33);
  await expect(copyRegular(at('made'), at('copy'))).rejects.toMatchObject({ code: 'file/too-large' });
});

test.runIf(hasPipes)('a socket is refused', async () => {
  const server = createServer().listen(at('socket'));
  await new Promise((resolve) => server.once('listening', resolve));
  await expect(openRegular(at('socket'))).rejects.toMatchObject({ code: 'file/not-regular' });
  server.close();
});

test('a text is read in parts, and not on when it goes on with zeros', async () => {
  await goOnWithZeros(at('zeros'), 'text');
  const read = async (file: string): Promise<number> => {
    let bytes = 0;
    for await (const part of readInParts(file)) bytes += part.length;
    return bytes;
  };
  await expect(read(at('zeros'))).rejects.toMatchObject({ code: 'file/too-large' });
  expect(await read(at('file'))).toBe(4);
});
