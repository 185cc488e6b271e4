import { describe, expect, it } from 'vitest';
import { curveOf, type Measured } from '../../../src/core/evaluation/curve';
import { curveFindings, curveTable } from '../../../src/core/evaluation/report/curve';
import { inEnglish, linesOf } from '../../../src/core/evaluation/report/table';

const TASKS = 100;

/** @param solved number of tasks that the model of each seed solves */
function point(share: number, seed: number, solved: number): Measured {
  const by_task = (count: number) =>
    Array.from({ length: TASKS }, (_, at) => ({
      ...{ task: `task ${at}`, rollouts: 1, success: Number(at < count) },
    })) as unknown as Measured['model']['by_task'];
  const drawn = new Map(Array.from({ length: 40 * share }, (_, at) => [`request ${at}`, ['a row']] as const));
  return {
    ...{ share, seed, drawn, run: `run ${share} ${seed}` },
    ...{ model: { by_task: by_task(solved) }, start: { by_task: by_task(20) } },
  };
}

const SHARES = [0.25, 0.5, 1];

/** @param solved by share, a number for each seed */
const curve = (...solved: readonly (readonly number[])[]) =>
  curveOf(
    SHARES.flatMap((share, at) => solved[at]!.map((count, seed) => point(share, seed + 1, count))),
    SHARES,
    TASKS,
  );

describe('a learning curve', () => {
  it('says that more would likely help when the last doubling gained', () => {
    const found = curve([22, 23, 24], [30, 31, 29], [48, 50, 49]);
    expect(found.gain.mean).toBeCloseTo(0.19);
    expect(found.moreHelps).toBe('likely');
    expect(inEnglish(curveFindings(found)[0]!)).toBe('More dialogues would likely help.');
  });

  it('sees no sign of more when the last doubling gained nothing, tightly', () => {
    expect(curve([30, 31, 30], [40, 41, 40], [40, 40, 41]).moreHelps).toBe('no sign');
  });

  it('cannot tell from one seed, or from seeds that differ widely', () => {
    expect(curve([22], [30], [60]).moreHelps).toBe('too few');
    expect(curve([20, 40, 30], [20, 50, 35], [50, 20, 40]).moreHelps).toBe('too few');
  });

  it('has a row for the untrained model and for each share', () => {
    const rows = linesOf(curveTable(curve([22, 23, 24], [30, 31, 29], [48, 50, 49])));
    expect(rows.map(([name, tasks, dialogues]) => [name, tasks, dialogues])).toEqual([
      ['Trained on', 'Tasks', 'Dialogues'],
      ['nothing', '–', '–'],
      ['25 %', '10', '10'],
      ['50 %', '20', '20'],
      ['100 %', '40', '40'],
    ]);
    expect(rows[1]![3]).toMatch(/^20\.0 % \[/);
  });
});
