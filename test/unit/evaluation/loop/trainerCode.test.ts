import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { trainerCode } from '../../../../src/core/training/trainer';
import { temporaryFolder } from '../../../fixtures/log';

describe("the digest of a trainer's code", () => {
  it('changes with a module and with the prompt of the critic, not with what Python leaves beside them', async () => {
    const folder = await temporaryFolder();
    const holds = async (name: string, text: string): Promise<string> => {
      const file = path.join(folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
      return trainerCode(folder);
    };
    await mkdir(path.join(folder, 'tandem_env'));
    await holds('tandem_trainer/losses.py', 'a = 1');
    const first = await holds('tandem_trainer/data/prompts/critic.md', 'Judge.');
    expect(await holds('tandem_trainer/__pycache__/losses.pyc', 'x')).toBe(first);
    const second = await holds('tandem_trainer/data/prompts/critic.md', 'Judge well.');
    expect(second).not.toBe(first);
    const third = await holds('tandem_trainer/losses.py', 'a = 2');
    expect(third).not.toBe(second);
    expect(await holds('tandem_env/grpo.py', 'a = 3')).not.toBe(third);
  });
});
