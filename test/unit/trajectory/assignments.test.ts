import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { partsFor } from '../../../src/core/dialogue/packAssignment';
import { assignedIn, assigning } from '../../../src/core/trajectory/assignments';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { openLog, segmentFiles, temporaryFolder } from '../../fixtures/log';

const assign = (log: TrajectoryLog, pack: string, people: readonly string[]): Promise<unknown> =>
  log.appendAll(assigning(pack, partsFor(pack, people, 2)), { durable: true });
const peopleOf = (log: TrajectoryLog, pack: string): string[] | undefined =>
  log.assigned.get(pack)?.map(({ person }) => person);

describe('a pack that is assigned to people', () => {
  it('tells each person’s place among them, also after the log was opened anew', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await assign(log, 'a.jsonl', ['ada', 'ben', 'kim']);
    const expected = partsFor('a.jsonl', ['ada', 'ben', 'kim'], 2);
    expect(expected.map(({ person, place, places, perTask }) => [person, place, places, perTask])).toEqual([
      ['ada', 0, 3, 2],
      ['ben', 1, 3, 2],
      ['kim', 2, 3, 2],
    ]);
    expect(log.assigned.get('a.jsonl')).toEqual(expected);
    await log.close();
    const again = await openLog(folder);
    expect(again.assigned).toEqual(new Map([['a.jsonl', expected]]));
    expect(again.notes).toEqual([]);
  });

  it('is assigned as was said last, in time and not in the order of the files, and to nobody when taken back', () => {
    const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
    const lines = (second: number, people: string[]) =>
      assigning('a.jsonl', partsFor('a.jsonl', people, 2)).map((event) => ({
        pack: 'a.jsonl',
        ...event,
        at: at(second),
      }));
    const [first, second] = [lines(1, ['ada', 'ben']), lines(2, ['kim', 'ben'])];
    for (const order of [
      [...first, ...second],
      [...second, ...first],
    ])
      expect(
        assignedIn(order)
          .get('a.jsonl')
          ?.map(({ person }) => person),
      ).toEqual(['ben', 'kim']);
    expect(assignedIn([...first, ...second, ...lines(3, [])]).size).toBe(0);
  });

  it('keeps the places of the others when somebody is erased', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await assign(log, 'a.jsonl', ['ada', 'kim', 'zoe']);
    await assign(log, 'b.jsonl', ['ada']);
    await assign(log, 'b.jsonl', ['kim']);
    expect(await log.eraseDeveloper('kim')).toEqual({ episodes: 0, lines: 2 });
    expect(log.assigned.get('a.jsonl')?.map(({ person, place, places }) => [person, place, places])).toEqual([
      ['ada', 0, 3],
      ['zoe', 2, 3],
    ]);
    // Nobody gets a task back that an earlier assignment gave.
    expect(peopleOf(log, 'b.jsonl')).toBeUndefined();
    expect(log.problems).toEqual([]);
    for (const file of await segmentFiles(folder)) expect(await readFile(file, 'utf8')).not.toContain('kim');
  });
});
