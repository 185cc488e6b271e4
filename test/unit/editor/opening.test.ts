import { expect, it } from 'vitest';
import { Opening } from '../../../src/editor/session/opening';

it('opens a thing once, however often it is asked for meanwhile, and anew afterwards', async () => {
  const opening = new Opening<string>();
  const slow = Promise.withResolvers<string>();
  let asked = 0;
  const open = (): Promise<string> => {
    asked += 1;
    return slow.promise;
  };
  const both = [opening.once('a', open), opening.once('a', open)];
  const other = opening.once('b', () => Promise.resolve('another'));
  slow.resolve('panel');
  expect(await Promise.all([...both, other])).toEqual(['panel', 'panel', 'another']);
  expect(asked).toBe(1);
  await opening.once('a', open);
  expect(asked).toBe(2);
});

it('tells everybody who asked of a failure, and tries again afterwards', async () => {
  const opening = new Opening<string>();
  const fail = (): Promise<string> => Promise.reject(new Error('No pack has the task.'));
  const both = await Promise.allSettled([opening.once('a', fail), opening.once('a', fail)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await opening.once('a', () => Promise.resolve('panel'))).toBe('panel');
});
