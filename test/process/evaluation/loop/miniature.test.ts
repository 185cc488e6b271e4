import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { keptOf } from '../../../../src/core/evaluation/loop/evaluationCache';
import { runLoop } from '../../../../src/core/evaluation/loop/loop';
import { QUICK } from '../../../../src/core/evaluation/loop/settings';
import { miniaturePlan } from '../../../fixtures/miniature-loop';

/**
 * With four turns (three questions and the answer) the starter model nearly always fails, so that few dialogues suffice
 * to show a gain.
 */
const settings = { heldOutTasks: 200, protocol: { ...QUICK.protocol, maxTurns: 4 } };

/**
 * Two such loops, of seeds 3 and 4, gained 9 and 5 of the 200 tasks in greedy play, from about 0 and 0.5 %, and lost 0 and 1;
 * sampled they gained 4 and 8, and lost 3 and 1, which is not so sure and not asked for. The seed is fixed, so that on one
 * machine it is always the same.
 */
test('a miniature loop makes the starter model better on tasks it has never seen', async () => {
  const plan = await miniaturePlan('functions', settings);
  const { comparisons, model } = await runLoop(plan);
  const { sampled, greedy } = comparisons;
  for (const { success } of [sampled, greedy]) expect(success.tasks).toBe(settings.heldOutTasks);
  expect(greedy.success.difference!).toBeGreaterThan(0);
  expect(comparisons.earlier).toBeUndefined();

  // The next lesson plays a part of these tasks again; what its agent begins with has already played them.
  const next = await runLoop({
    ...{
      ...plan,
      title: 'next tasks',
      seed: 4,
      settings: { ...plan.settings, trainTasks: 40, heldOutTasks: 20 },
    },
    agent: { name: `local:${model}`, base: model, graph: path.join(model, 'onnx', 'model.onnx') },
  });
  expect(next.comparisons.earlier).toMatchObject([{ title: plan.title, success: { tasks: 100 } }]);
  const kept = await keptOf(path.join(next.data, 'runs', next.run));
  expect(kept.map(({ setting }) => setting.title).toSorted()).toEqual([
    'next tasks',
    'next tasks',
    plan.title,
  ]);
  expect(await readFile(next.report, 'utf8')).toContain(`| ${plan.title}, the round before | 100 |`);
}, 1_800_000);
