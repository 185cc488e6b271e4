import { points } from '../../src/core/evaluation/words';
import { successesOf, type Row, type Rows } from '../scoreboard/rows';
import { rowKey } from '../scoreboard/cells';
import { differences, overSeeds, type OverSeeds } from '../../src/core/evaluation/overSeeds';
import type { Surroundings } from '../scoreboard/surroundings';
import { SIZES, type Size, type SizedCell } from './plan';

/** Success of a method's models minus that of the start, on the same tasks with the same seeds. */
export interface Gain {
  readonly method: string;
  readonly setting: string;
  readonly dialogues: Size;
  readonly temperature: number;
  readonly seeds: readonly number[];
  readonly start: OverSeeds;
  readonly trained: OverSeeds;
  readonly gain: OverSeeds;
}

export function gainsOf(cells: readonly SizedCell[], rows: Rows, of: (size: Size) => Surroundings): Gain[] {
  const rowOf = (cell: SizedCell, temperature: number): Row | undefined =>
    rows.get(rowKey(cell, temperature, of(cell.size)));
  const starts = cells.filter(({ player }) => player.method.name === 'zero-shot');
  const names = [...new Set(cells.map(({ player }) => player.method.name))].filter(
    (name) => name !== 'zero-shot',
  );
  return names.flatMap((method) =>
    SIZES.flatMap((dialogues) =>
      of(dialogues).plan.temperatures.flatMap((temperature): Gain[] => {
        const pairs = cells
          .filter((cell) => cell.player.method.name === method && cell.size === dialogues)
          .flatMap((cell) => {
            const start = starts.find(({ player }) => player.seed === cell.player.seed);
            const first = start && rowOf(start, temperature);
            const second = rowOf(cell, temperature);
            return first && second ? [{ first, second }] : [];
          });
        if (pairs.length === 0) return [];
        const before = pairs.map(({ first }) => successesOf(first));
        const after = pairs.map(({ second }) => successesOf(second));
        return [
          {
            ...{ method, dialogues, temperature, setting: pairs[0]!.second.setting },
            seeds: pairs.map(({ second }) => second.seed),
            start: overSeeds(before),
            trained: overSeeds(after),
            gain: overSeeds(differences(before, after)),
          },
        ];
      }),
    ),
  );
}

/** A Markdown table, as on the page of this study. */
export function gainsInWords(gains: readonly Gain[]): string {
  const range = (of: OverSeeds): string =>
    of.interval === null ? '' : ` [${points(of.interval.low)}, ${points(of.interval.high)}]`;
  const body = gains.map(
    ({ method, dialogues, temperature, seeds, start, trained, gain }) =>
      `| ${method} | ${dialogues} | ${temperature} | ${seeds.length} | ${(100 * start.mean).toFixed(1)} | ${(100 * trained.mean).toFixed(1)} | ${points(gain.mean)}${range(gain)} |`,
  );
  return [
    '| method | dialogues | T | seeds | start, % | trained, % | gain, points |',
    '|---|---|---|---|---|---|---|',
    ...body,
  ].join('\n');
}
