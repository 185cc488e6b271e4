import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ifThere, syncFolder } from '../../../src/core/trajectory/files';
import { temporaryFolder } from '../../fixtures/log';

const failing = (code: string): Error => Object.assign(new Error(code), { code });

it('what another machine replaced while it was read is read once more', async () => {
  const answers = [failing('ESTALE'), 'new'];
  const read = (): Promise<unknown> => {
    const answer = answers.shift();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  expect(await ifThere(read)).toBe('new');
  answers.push(failing('ESTALE'), failing('ENOENT'));
  expect(await ifThere(read)).toBeUndefined();
  answers.push(failing('ESTALE'), failing('ESTALE'), 'never');
  await expect(ifThere(read)).rejects.toThrow('ESTALE');
  await expect(ifThere(() => readFile(import.meta.dirname))).rejects.toThrow('EISDIR');
});

it.runIf(process.platform === 'linux')(
  'a folder of a file system that cannot make names durable is passed over',
  async () => {
    await syncFolder('/proc/self');
    await syncFolder(await temporaryFolder());
    await expect(syncFolder('/nowhere')).rejects.toThrow('ENOENT');
  },
);
