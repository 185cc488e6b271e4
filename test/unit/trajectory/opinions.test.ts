import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { exportTrajectories } from '../../../src/core/trajectory/export/export';
import { ownLabel, type OwnLabel, relabel, verdictsOf } from '../../../src/core/trajectory/opinions';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import type { Choice } from '../../../src/core/trajectory/trajectory';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  doubling,
  graded,
  judgement,
  kim,
  label,
  openLog,
  play,
  review,
  started,
  temporaryFolder,
  verdict,
} from '../../fixtures/log';

/** Logs a dialogue in which kim chose the first of two candidates; returns the choice. */
async function chosen(log: TrajectoryLog, episode: string): Promise<Choice> {
  await log.recordTask(doubling);
  await log.append(started(episode, { collaborator: kim, pack: 'a.jsonl' }));
  await log.append(candidates(episode, 1));
  await log.appendAll([choice(episode, 1, 0), agentTurn(episode, 1, 'I WANT TO ANSWER: code')]);
  await log.appendAll([answered(episode, 1), graded(episode, 1)]);
  return (await log.trajectory(episode))!.turns[0]!.candidates![0]!;
}

/** Makes everything that a person can say of a dialogue with a choice. */
const saidOf = (episode: string, pair: Choice, by: string): NewEvent[] => [
  judgement(pair, 0, 1, by),
  { event: 'rating', episode, stars: 4, comment: `Remark of ${by}`, by },
  { event: 'turn-rating', episode, turn: 1, thumb: 'up', by },
  label(episode, by, { title: `Title of ${by}`, tags: ['shared', `tag of ${by}`], note: `Note of ${by}` }),
  review(episode, by, 'redo', `Reason of ${by}`),
];

describe('what several people say of one dialogue', () => {
  it('is judged of the candidates that the person saw, also when the index reads only the fronts of lines', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    const pair = await chosen(log, 'e1');
    await chosen(log, 'e2');
    await log.append(judgement(pair, 0, 'equal', 'lee'));
    await log.append({
      ...judgement(pair, 0, 'equal', 'lee'),
      episode: 'e2',
      shown: '2000-01-01T00:00:00.000Z',
    });
    await log.close();
    await rm(join(folder, 'index'), { recursive: true });
    const cold = await openLog(folder);
    expect(cold.summary('e1')).toMatchObject({ raters: 2 });
    expect(cold.summary('e2')).toMatchObject({ raters: 1 });
    expect(cold.list({ filter: { raters: 2 }, offset: 0, limit: 9 }).rows.map(({ id }) => id)).toEqual([
      'e1',
    ]);
  });

  it('is erased person by person: the dialogue and the words of the others stay', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    const pair = await chosen(log, 'e1');
    for (const by of ['ada', 'ludmilla']) await log.appendAll(saidOf('e1', pair, by));
    expect(await log.eraseDeveloper('ludmilla')).toEqual({ episodes: 0, lines: 5 });
    expect(log.problems).toEqual([]);
    expect(log.summary('e1')).toMatchObject({
      raters: 2,
      tags: ['shared', 'tag of ada'],
      note: 'Note of ada',
    });
    expect((await log.trajectory('e1'))?.review?.by).toBe('ada');
    await log.close();
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const texts = files.filter((file) => file.isFile());
    expect(texts.length).toBeGreaterThan(1);
    for (const { parentPath, name } of texts)
      expect(await readFile(join(parentPath, name), 'latin1'), name).not.toContain('ludmilla');
  });

  it('makes nobody a player whose consent the dialogue needs, and does not leave in an export', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    const pair = await chosen(log, 'e1');
    await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'a study', level: 'export' });
    await log.appendAll(saidOf('e1', pair, 'lee'));
    const file = join(folder, 'rows.jsonl');
    const { rows } = await exportTrajectories(log, file, {
      format: 'trajectories',
      visible: ({ agent }) => agent.text,
      withRedo: true,
    });
    expect(rows).toBe(1);
    for (const each of [file, `${file}.md`])
      expect(await readFile(each, 'utf8')).not.toMatch(/\blee\b|"stars"/);
  });
});

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
});

describe('what people say of a critic’s credit', () => {
  it('is kept with the turn: the last word of a person on a critic, none when it was taken back', async () => {
    const log = await openLog();
    await play(log, 'a', 1);
    await log.appendAll([
      verdict('a', 2, true, { critic: 'one' }),
      verdict('a', 2, false, { critic: 'two' }),
      verdict('a', 2, true, { critic: 'one', by: 'ada' }),
      verdict('a', 2, false, { critic: 'one' }),
      verdict('a', 2, undefined, { critic: 'two' }),
    ]);
    const said = verdictsOf((await log.trajectory('a'))!);
    expect(said.map(({ turn, critic, by, agrees }) => [turn, critic, by, agrees])).toEqual([
      [2, 'one', 'ada', true],
      [2, 'one', 'kim', false],
    ]);
    expect(log.summary('a')?.verdicts).toBe(2);
  });

  it('is erased with its author’s data, from the dialogue of somebody else', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'a', 1);
    await log.append(verdict('a', 1, true));
    await log.eraseDeveloper('kim');
    expect((await log.trajectory('a'))!.turns).toHaveLength(2);
    expect(verdictsOf((await log.trajectory('a'))!)).toEqual([]);
  });

  it('is exported as far as its author’s consent goes, without the pseudonym', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'a', 1);
    await log.append(verdict('a', 1, false));
    const rows = async (): Promise<unknown> => {
      const file = join(folder, 'rows.jsonl');
      await exportTrajectories(log, file, { format: 'trajectories', visible: ({ agent }) => agent.text });
      return (JSON.parse(await readFile(file, 'utf8')) as { tandem: { turns: unknown[] } }).tandem.turns[0];
    };
    expect(await rows()).not.toHaveProperty('verdicts');
    const consent = { event: 'consent', pseudonym: 'kim', purpose: 'a study' } as const;
    await log.append({ ...consent, level: 'local' });
    expect(await rows()).not.toHaveProperty('verdicts');
    await log.append({ ...consent, level: 'export' });
    expect(await rows()).toMatchObject({
      verdicts: [{ critic: 'critic-1', advantage: 0.25, agrees: false }],
    });
    expect(JSON.stringify(await rows())).not.toContain('kim');
  });
});
