import { describe, expect, it } from 'vitest';
import type { NewEvent } from '../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { agentTurn, answered, doubling, label, openLog, reply, started } from '../../fixtures/log';

const said = (episode: string, turn: number, text: string): NewEvent =>
  ({ ...reply(episode, turn), text }) as NewEvent;

async function found(log: TrajectoryLog, query: string): Promise<string[]> {
  const rows: string[] = [];
  for await (const { summary, passages } of log.search(query))
    rows.push(...passages.map(({ turn, by, text }) => `${summary.id}/${turn} ${by}: ${text}`));
  return rows;
}

/** Logs two dialogues; the second begins while the first goes on. */
async function told(): Promise<TrajectoryLog> {
  const log = await openLog();
  await log.recordTask(doubling);
  await log.appendAll([started('first'), agentTurn('first', 1, 'Is the "Größe" of a taxi known?')]);
  await log.appendAll([started('second'), agentTurn('second', 1, 'How far\ndoes the TAXI go?')]);
  await log.appendAll([said('first', 1, 'A taxi takes four.'), agentTurn('first', 2, 'def taxi(): pass')]);
  await log.append(answered('first', 2));
  return log;
}

describe('a search in transcripts', () => {
  it('finds every message with all words, in any case, the dialogue that went on last first', async () => {
    const log = await told();
    expect(await found(log, ' Taxi ')).toEqual([
      'first/1 agent: Is the "Größe" of a taxi known?',
      'first/1 collaborator: A taxi takes four.',
      'first/2 agent: def taxi(): pass',
      'second/1 agent: How far\ndoes the TAXI go?',
    ]);
    expect(await found(log, 'does taxi')).toEqual(['second/1 agent: How far\ndoes the TAXI go?']);
    expect(await found(log, '"GRÖSSE"')).toEqual([]);
    expect(await found(log, '"GRÖßE"')).toHaveLength(1);
    expect(await found(log, '  ')).toEqual([]);
  });

  it('finds the notes that people have on a dialogue now, before its messages, and no titles or tags', async () => {
    const log = await told();
    await log.append(label('first', 'kim', { title: 'A bus', tags: ['bus'], note: 'Is a taxi no bus?' }));
    expect(await found(log, 'bus taxi')).toEqual(['first/0 note: Is a taxi no bus?']);
    expect(await found(log, 'taxi four')).toEqual(['first/1 collaborator: A taxi takes four.']);
    expect((await found(log, 'taxi'))[0]).toBe('first/0 note: Is a taxi no bus?');
    await log.append(label('first', 'lee', { note: 'Bus or taxi.' }));
    await log.append(label('first', 'kim', { note: 'A car.' }));
    expect(await found(log, 'bus')).toEqual(['first/0 note: Bus or taxi.']);
  });

  it('passes over deleted dialogues and messages that were written anew', async () => {
    const log = await told();
    await log.delete(['first']);
    expect(await found(log, 'taxi')).toHaveLength(1);
    await log.appendAll([
      { event: 'turn-superseded', episode: 'second', turn: 1 },
      agentTurn('second', 1, 'How far is it?'),
    ]);
    expect(await found(log, 'taxi')).toEqual([]);
    expect(await found(log, 'far')).toEqual(['second/1 agent: How far is it?']);
  });

  it('reads the newest file first, a dialogue of several files once', async () => {
    const log = await openLog(undefined, { segmentBytes: 1 });
    await log.recordTask(doubling);
    for (const id of ['old', 'new']) {
      await log.append(started(id));
      await log.append(agentTurn(id, 1, `A taxi, ${id}.`));
      await log.append(said(id, 1, 'A taxi, yes.'));
    }
    expect((await found(log, 'taxi')).map((row) => row.split(':')[0])).toEqual([
      'new/1 agent',
      'new/1 collaborator',
      'old/1 agent',
      'old/1 collaborator',
    ]);
  });

  it('tells how far it is, and ends when it is no longer wanted', async () => {
    const log = await told();
    const steps: (readonly [number, number])[] = [];
    const onProgress = (read: number, total: number): unknown => steps.push([read, total]);
    for await (const _ of log.search('nowhere', { onProgress }));
    expect(steps.at(-1)![0]).toBe(steps.at(-1)![1]);
    expect(steps.at(-1)![0]).toBeGreaterThan(1000);
    const stop = new AbortController();
    stop.abort();
    await expect(log.search('taxi', { signal: stop.signal }).next()).rejects.toThrow('aborted');
  });
});
