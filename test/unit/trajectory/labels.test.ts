import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownLabel, relabel, type OwnLabel } from '../../../src/core/trajectory/labels';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { label, openLog, play, temporaryFolder } from '../../fixtures/log';

/** Labels the dialogue e1 as a person does in the editor; returns how many events that took. */
async function write(log: TrajectoryLog, by: string, given: Partial<OwnLabel>): Promise<number> {
  await log.refresh();
  const events = relabel((await log.trajectory('e1'))!, by, () => given);
  await log.appendAll(events);
  return events.length;
}

const titleIn = (log: TrajectoryLog): string | undefined => log.summary('e1')?.title;

/** Opens two logs of one folder with a dialogue that ada called A and then ben B. */
async function renamed(): Promise<{ folder: string; adas: TrajectoryLog; bens: TrajectoryLog }> {
  const folder = await temporaryFolder();
  const [adas, bens] = [await openLog(folder), await openLog(folder)];
  await play(adas, 'e1', 1);
  expect(await write(adas, 'ada', { title: 'A' })).toBe(1);
  expect(await write(bens, 'ben', { title: 'B' })).toBe(1);
  await adas.refresh();
  expect(titleIn(adas)).toBe('B');
  return { folder, adas, bens };
}

describe('a label of a dialogue', () => {
  it('does not undo the rename of another person when it gets a tag or a note', async () => {
    const { folder, adas, bens } = await renamed();
    expect(await write(adas, 'ada', { tags: ['odd'] })).toBe(1);
    expect(await write(adas, 'ada', { note: 'Look here.' })).toBe(1);
    const shown = { title: 'B', tags: ['odd'], note: 'Look here.' };
    expect(adas.summary('e1')).toMatchObject(shown);
    await bens.refresh();
    expect(bens.summary('e1')).toMatchObject(shown);
    expect(ownLabel((await adas.trajectory('e1'))!, 'ada')).toEqual({ ...shown, title: 'A' });
    await Promise.all([adas.close(), bens.close()]);
    await rm(join(folder, 'index'), { recursive: true });
    expect((await openLog(folder)).summary('e1')).toMatchObject(shown);
  });

  it('gives a title again after another person gave one, and keeps tags and note', async () => {
    const { folder, adas, bens } = await renamed();
    await write(adas, 'ada', { tags: ['odd'], note: 'Look here.' });
    expect(await write(adas, 'ada', { title: 'A' })).toBe(2);
    const shown = { title: 'A', tags: ['odd'], note: 'Look here.' };
    expect(adas.summary('e1')).toMatchObject(shown);
    expect(await write(adas, 'ada', { title: 'A' })).toBe(0);
    await bens.refresh();
    expect(bens.summary('e1')).toMatchObject(shown);
    await Promise.all([adas.close(), bens.close()]);
    const other = await openLog();
    for (let time = 0; time < 2; time += 1) await other.merge(folder);
    expect(other.summary('e1')).toMatchObject(shown);
    expect((await other.trajectory('e1'))?.labels?.map(({ by }) => by)).toEqual(['ben', 'ada']);
  });

  it('of an older Tandem, with a title of two lines, keeps that in one', async () => {
    const log = await openLog();
    await play(log, 'e1', 1);
    await log.append(label('e1', 'ada', { title: 'A\ntitle' }));
    await log.append(label('e1', 'ben', { title: 'B' }));
    expect(await write(log, 'ada', { tags: ['odd'] })).toBe(1);
    expect(titleIn(log)).toBe('B');
    expect(await write(log, 'ada', { title: 'A title' })).toBe(2);
    expect(titleIn(log)).toBe('A title');
  });
});
