import { join } from 'node:path';
import { writeAtomically } from '../../src/core/trajectory/files';
import type { Board } from './board';
import { pageOf, type Players } from './page';
import { picturesOf } from './pictures';
import { common, type Method } from './methods';
import { comparisons, INSTRUMENT, type Plan } from './plan';
import type { Table } from './table';

/** The content of the page for programs; figures by task are in the rows. */
export interface Summary extends Table, Pick<Board, 'credit' | 'cells' | 'failures'> {
  readonly instrument: number;
  readonly plan: Plan;
  readonly comparisons: object;
  readonly common: object;
  readonly methods: readonly Method[];
  readonly choices: readonly object[];
}

export function summaryOf(board: Board, table: Table, plan: Plan, methods: readonly Method[]): Summary {
  const { credit, cells, failures, choices } = board;
  return {
    ...{ ...table, instrument: INSTRUMENT, plan, comparisons, common, methods, credit, cells, failures },
    choices: [...choices.values()].map(({ method, chosen, tried }) => ({
      method: method.name,
      chosen: chosen && { setting: chosen.setting.name, temperature: chosen.temperature },
      tried: tried.map(({ setting, at }) => ({ setting: setting.name, at })),
    })),
  };
}

/** Writes page, pictures and summary into the folder of the scoreboard. Returns the page's path. */
export async function writeBoard(
  out: string,
  board: Board,
  table: Table,
  { plan, methods, players }: { plan: Plan; methods: readonly Method[]; players: Players },
): Promise<string> {
  const summary = summaryOf(board, table, plan, methods);
  const files = {
    ...picturesOf(table),
    'scoreboard.json': `${JSON.stringify(summary, undefined, 1)}\n`,
    'scoreboard.md': pageOf(board, table, plan, players),
  };
  for (const [name, text] of Object.entries(files)) {
    await writeAtomically(join(out, name), (file) => file.writeFile(text));
  }
  return join(out, 'scoreboard.md');
}
