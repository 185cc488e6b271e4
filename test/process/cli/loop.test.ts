import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runNode } from '../../fixtures/tasks';
import { temporaryFolder } from '../../fixtures/log';

const loop = (...args: readonly string[]) => runNode(['dist/tandem.js', 'loop', ...args]);

describe('tandem loop', () => {
  it('refuses an agent that cannot be trained, and says what can be done instead', async () => {
    const { code, stderr } = await loop('--agent', 'openai:gpt-5');
    expect(code).toBe(2);
    expect(stderr).toMatch(/"openai:gpt-5" cannot be trained here.*tandem collect and tandem train/);
  });

  it('refuses a folder that holds no model before anything is played', async () => {
    const folder = path.join(await temporaryFolder(), 'none');
    const { code, stderr } = await loop('--agent', `local:${folder}`, '--json');
    expect(code).not.toBe(0);
    expect(stderr).toContain(`There is no model folder ${folder}`);
  });
});
