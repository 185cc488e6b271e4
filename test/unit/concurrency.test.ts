import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { inFlight } from '../../src/core/concurrency';

it('throws the first failure also when it comes while the next item is waited for', async () => {
  const worked: number[] = [];
  async function* slowly(): AsyncGenerator<number> {
    for (const item of [1, 2, 3]) {
      yield item;
      await wait(10);
    }
  }
  const failing = inFlight(slowly(), 8, async (item) => {
    worked.push(item);
    await Promise.resolve();
    throw new Error(`Item ${item} fails.`);
  });
  await expect(failing).rejects.toThrow('Item 1 fails.');
  expect(worked).toEqual([1]);
});

it('has no more than the limit under way, and works on all', async () => {
  let running = 0;
  let most = 0;
  const done: number[] = [];
  await inFlight([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++running);
    await wait(1);
    running -= 1;
    done.push(item);
  });
  expect([most, done.sort()]).toEqual([2, [1, 2, 3, 4, 5]]);
});
