import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { makeFolder } from '../../../src/core/trajectory/files';
import { temporaryFolder } from '../../fixtures/log';

const before = process.cwd();

afterEach(() => process.chdir(before));

test('a relative folder with a name of one letter is made', async () => {
  const parent = await temporaryFolder();
  process.chdir(parent);
  await makeFolder('D/claims');
  expect(existsSync(join(parent, 'D', 'claims'))).toBe(true);
});
