import { expect, it } from 'vitest';
import { Gate } from '../../../src/core/grading/fairRun';

/** Makes work that records its start and ends on request. */
function work(name: string, events: string[]): { run: () => Promise<void>; end: () => void } {
  const done = Promise.withResolvers<undefined>();
  return {
    run: async () => {
      events.push(name);
      await done.promise;
    },
    end: () => done.resolve(undefined),
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('admits as many as there are places, in order', async () => {
  const gate = new Gate(2, 1);
  const events: string[] = [];
  const works = ['a', 'b', 'c'].map((name) => work(name, events));
  const all = works.map(({ run }) => gate.together(run));
  await settle();
  expect(events).toEqual(['a', 'b']);
  works[0]!.end();
  await settle();
  expect(events).toEqual(['a', 'b', 'c']);
  works.forEach(({ end }) => end());
  await Promise.all(all);
});

it('runs what has to be apart when nothing else runs, beside as much of it as has a place', async () => {
  const gate = new Gate(2, 1);
  const events: string[] = [];
  const [first, alone, alsoAlone, last] = ['first', 'alone', 'also alone', 'last'].map((name) =>
    work(name, events),
  );
  const all = [gate.together(first!.run), gate.apart(alone!.run), gate.apart(alsoAlone!.run)];
  await settle();
  expect(events).toEqual(['first']);
  first!.end();
  await settle();
  expect(events).toEqual(['first', 'alone']);
  all.push(gate.together(last!.run));
  await settle();
  expect(events).toEqual(['first', 'alone']);
  alone!.end();
  await settle();
  expect(events).toEqual(['first', 'alone', 'also alone']);
  alsoAlone!.end();
  await settle();
  expect(events).toEqual(['first', 'alone', 'also alone', 'last']);
  last!.end();
  await Promise.all(all);
});

it('gives the place back when work fails', async () => {
  const gate = new Gate(1, 1);
  await expect(gate.together(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await gate.apart(() => Promise.resolve('next'))).toBe('next');
});
