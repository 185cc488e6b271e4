import { expect, test, vi } from 'vitest';
import { OneAtATime } from '../../../src/editor/background';

vi.mock('vscode', () => import('./vscode'));

test('does the work again when it is asked for meanwhile, and never twice at a time', async () => {
  let atWork = 0;
  const seen: string[] = [];
  let state = 'old';
  const isRead = Promise.withResolvers<undefined>();
  const work = new OneAtATime(async () => {
    atWork += 1;
    seen.push(`${state}, ${atWork} at work`);
    await isRead.promise;
    atWork -= 1;
  });
  const first = work.do();
  state = 'new';
  const second = work.do();
  const third = work.do();
  isRead.resolve(undefined);
  await Promise.all([first, second, third]);
  expect(seen).toEqual(['old, 1 at work', 'new, 1 at work']);
  await work.do();
  expect(seen).toHaveLength(3);
});
