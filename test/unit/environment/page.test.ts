import { expect, it } from 'vitest';
import { beginEpisode } from '../../../src/core/environment/episode';
import type { Grader } from '../../../src/core/grading/grader';
import { environmentPlan } from '../../fixtures/environment';
import { bakery, pageOf, reader } from '../../fixtures/pages';

it('plays a web page by its own request and protocol, and rewards its score', async () => {
  const plan = { ...(await environmentPlan([bakery], {} as Grader)), pages: reader };
  const episode = beginEpisode(plan, {});
  const { prompt, metadata } = await episode.open();
  expect(prompt).toContain('<html>');
  expect(metadata.reply_limit).toBe(1000);
  const replied = await episode.step({
    ...{ kind: 'message', message: `OUTPUT:\n${pageOf('Golden Crust')}`, metadata: {} },
  });
  expect(replied).toMatchObject({ done: false, reward: 0 });
  expect(replied.message).toContain('Fresh bread every morning');
  const ended = await episode.step({ kind: 'answer', message: bakery.reference, metadata: {} });
  expect(ended).toMatchObject({
    ...{ done: true, reward: 1 },
    metadata: { success: null, tests: 0, measure: 'structure', measure_version: 1, renderer: 'a test' },
  });
});
