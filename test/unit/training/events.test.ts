import { appendFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EventTail, lastProgress, parseEvent } from '../../../src/core/training/eventFile';
import type { TrainerEvent } from '../../../src/core/training/events';
import { advance, type Progress } from '../../../src/core/training/progress';
import { temporaryFolder } from '../../fixtures/log';

const at = '2026-11-20T22:00:00.000Z';
const line = (event: string, fields: object = {}): string =>
  `${JSON.stringify({ version: 1, at, event, ...fields })}\n`;
const state = (name: string, fields: object = {}): string => line('state', { state: name, ...fields });
const step = (number: number, fields: object = {}): string =>
  line('step', { stage: 'critic', step: number, steps: 50_000, loss: 0.5, seconds_left: 60, ...fields });

async function eventsFile(...lines: readonly string[]): Promise<string> {
  const file = join(await temporaryFolder(), 'events.jsonl');
  await writeFile(file, lines.join(''));
  return file;
}

async function readFrom(tail: EventTail): Promise<TrainerEvent[]> {
  const events: TrainerEvent[] = [];
  for await (const event of tail.read()) events.push(event);
  return events;
}

const stepsOf = (events: readonly TrainerEvent[]): unknown[] =>
  events.map((event) => (event.event === 'step' ? event.step : event.event));

describe('an event', () => {
  it('keeps fields that this Tandem does not know, and numbers that the trainer does not have', () => {
    expect(parseEvent(step(3, { mfu: null, flux: 7 }))).toMatchObject({ event: 'step', mfu: null, flux: 7 });
  });

  it('of a kind, of a version or of a shape that is not known is kept whole', () => {
    expect(parseEvent(line('weather', { sky: 'blue' }))).toMatchObject({
      event: 'other',
      kind: 'weather',
      fields: { sky: 'blue' },
    });
    expect(parseEvent(step(3, { version: 2 }))).toMatchObject({ event: 'other', kind: 'step', version: 2 });
    expect(parseEvent(state('levitating'))).toMatchObject({ event: 'other', kind: 'state' });
  });

  it.each(['{"version":1,"at":"20', '42', '{}', 'null'])('is not found in %s', (text) => {
    expect(parseEvent(text)).toBeUndefined();
  });
});

describe('a file of events that grows', () => {
  it('is read as it grows, whole lines only', async () => {
    const file = await eventsFile(step(1), step(2).slice(0, 20));
    const tail = new EventTail(file);
    expect(stepsOf(await readFrom(tail))).toEqual([1]);
    expect(stepsOf(await readFrom(tail))).toEqual([]);
    await appendFile(file, step(2).slice(20) + step(3));
    expect(stepsOf(await readFrom(tail))).toEqual([2, 3]);
    await tail.close();
  });

  it('is read around a line that nobody writes, and of which a part looks like an event', async () => {
    const long = `${step(2).trimEnd()} ${'x'.repeat(17 * 2 ** 20)}${step(3)}`;
    const file = await eventsFile(step(1), step(7, { loss: 1, note: 'y'.repeat(2 ** 20) }), long, step(4));
    const tail = new EventTail(file);
    expect(stepsOf(await readFrom(tail))).toEqual([1, 7, 4]);
    expect(tail.unreadable).toBe(1);
    await appendFile(file, step(5));
    expect(stepsOf(await readFrom(tail))).toEqual([5]);
    await tail.close();
  });

  it('survives the torn line of a killed trainer, whether its successor cuts it off or writes behind it', async () => {
    const file = await eventsFile(step(1), step(2).slice(0, 20));
    const tail = new EventTail(file);
    expect(stepsOf(await readFrom(tail))).toEqual([1]);
    await truncate(file, step(1).length);
    await appendFile(file, step(2) + step(3).slice(0, 30));
    expect(stepsOf(await readFrom(tail))).toEqual([2]);
    await appendFile(file, `\n${step(3)}`);
    expect(stepsOf(await readFrom(tail))).toEqual([3]);
    expect(tail.unreadable).toBe(1);
    await tail.close();
  });

  it('is read to its end and then anew when another takes its name, or when it is written anew', async () => {
    const file = await eventsFile(step(1));
    const tail = new EventTail(file);
    expect(stepsOf(await readFrom(tail))).toEqual([1]);
    await appendFile(file, step(2));
    await rename(file, `${file}.1`);
    await writeFile(file, step(3) + step(4) + step(5));
    expect(stepsOf(await readFrom(tail))).toEqual([2, 3, 4, 5]);
    await writeFile(file, step(6));
    expect(stepsOf(await readFrom(tail))).toEqual([6]);
    await tail.close();
  });
});

describe('where a run stands', () => {
  it('is told from the end of a file of many thousands of events', async () => {
    const steps = Array.from({ length: 50_000 }, (_, index) => step(index + 1));
    const file = await eventsFile(state('running', { stage: 'critic' }), ...steps);
    expect(await lastProgress(file)).toMatchObject({
      state: 'running',
      stage: 'critic',
      step: 50_000,
      steps: 50_000,
      secondsLeft: 60,
    });
  });

  it('tells what is left of the run after a few steps, and in work without steps only what is left of that', () => {
    const sampling = line('progress', {
      stage: 'candidates',
      part: 'sampling',
      done: 1,
      total: 4,
      seconds_left: 9,
    });
    const [first, fifth, part] = [step(1), step(5), sampling].reduce<Progress[]>(
      (told, text) => [...told, advance(told.at(-1), parseEvent(text)!)],
      [],
    );
    expect([first?.secondsLeft, fifth?.secondsLeft, part?.secondsLeft]).toEqual([undefined, 60, undefined]);
    expect(part?.part?.secondsLeft).toBe(9);
  });

  it('forgets the step of the last stage, and keeps its figures', () => {
    const events = [state('running', { stage: 'critic' }), step(3), state('running', { stage: 'ranking' })];
    const last = events.reduce<Progress | undefined>(
      (before, text) => advance(before, parseEvent(text)!),
      undefined,
    );
    expect(last).toMatchObject({ stage: 'ranking', latest: { stage: 'critic', step: 3 } });
    expect(last?.step).toBeUndefined();
    expect(last?.secondsLeft).toBeUndefined();
  });
});
