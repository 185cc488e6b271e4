import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportTrajectories } from '../../../src/core/trajectory/export/export';
import type { NewEvent } from '../../../src/core/trajectory/event';
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
  review,
  started,
  temporaryFolder,
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
