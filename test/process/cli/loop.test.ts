import { expect, it } from 'vitest';
import { tandem } from './tandem';

// test/process/evaluation/loop tests what the command plays and trains.
it('tandem loop refuses an agent that cannot be trained', async () => {
  const { code, stderr } = await tandem('loop', '--agent', 'openai:gpt-5');
  expect(code).toBe(2);
  expect(stderr).toContain('openai:gpt-5');
});
