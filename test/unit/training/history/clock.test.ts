import { expect, it } from 'vitest';
import { parseEvent } from '../../../../src/core/training/eventFile';
import { TrainingClock } from '../../../../src/core/training/history/history';

const START = Date.parse('2026-11-20T22:00:00.000Z');
const event = (seconds: number, kind: string, fields: object = {}) =>
  parseEvent(
    JSON.stringify({
      version: 1,
      at: new Date(START + seconds * 1000).toISOString(),
      event: kind,
      ...fields,
    }),
  )!;
const state = (seconds: number, name: string) => event(seconds, 'state', { state: name });
const step = (seconds: number, number: number) =>
  event(seconds, 'step', { stage: 'critic', step: number, steps: 100, loss: 1 });

it('training time begins with the first event and leaves out pauses, also after a trainer that was killed', () => {
  const clock = new TrainingClock();
  const after = (one: ReturnType<typeof event>): number => {
    clock.advance(one);
    return clock.seconds;
  };
  expect([state(0, 'preparing'), step(30, 1), state(31.5, 'stopped')].map(after)).toEqual([0, 30, 31.5]);
  expect([state(5000, 'preparing'), step(5010, 2)].map(after)).toEqual([31.5, 41.5]);
  // This trainer was killed: nothing says that it ended.
  expect([state(9000, 'preparing'), step(9001, 3)].map(after)).toEqual([41.5, 42.5]);
  expect([event(9900, 'nodes', { nodes: [], asked: 1 }), state(9940, 'preparing')].map(after)).toEqual([
    ...[42.5, 42.5],
  ]);
});

it('training time does not go back with the clock of the machine, and passes over what is no time', () => {
  const clock = new TrainingClock();
  for (const one of [step(0, 1), step(10, 2), step(4, 3), step(6, 4)]) clock.advance(one);
  clock.advance({ ...step(7, 5), at: 'yesterday' });
  clock.advance(step(8, 6));
  expect(clock.seconds).toBe(14);
});
