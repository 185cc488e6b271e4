import { expect, test } from 'vitest';
import { runLoop } from '../../../../src/core/evaluation/loop/loop';
import { miniaturePlan } from '../../../fixtures/miniature-loop';

/** It gained 42 points greedy [33, 52] and 20 sampled [11, 29], so that noise does not fail it. */
test('a miniature loop makes the page model better on pages it has never seen', async () => {
  const { comparisons } = await runLoop(await miniaturePlan('pages', { heldOutTasks: 100 }));
  const { success } = comparisons.greedy;
  expect(success.tasks).toBe(100);
  expect(success.interval!.low).toBeGreaterThan(0);
}, 1_800_000);
