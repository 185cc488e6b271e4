import { join } from 'node:path';
import { writeAtomically } from '../../src/core/trajectory/files';
import type { Attempt } from './attemptFile';
import type { Board } from './board';
import { pageOf, type Players } from './page';
import { picturesOf } from './pictures';
import { common, type Method, type Plan } from './plan';
import type { Table } from './table';

/** The content of the page for programs; figures by task are stored with the attempts only. */
export interface Summary extends Table, Pick<Board, 'credit' | 'testUses'> {
  readonly plan: Plan;
  readonly common: object;
  readonly methods: readonly Method[];
  readonly choices: readonly {
    readonly method: string;
    readonly chosen: string | undefined;
    readonly tried: readonly { readonly setting: string; readonly success: number | null }[];
  }[];
  readonly attempts: readonly object[];
  readonly earlier: readonly object[];
}

export function summaryOf(board: Board, table: Table, plan: Plan, methods: readonly Method[]): Summary {
  const { credit, testUses, choices, attempts, earlier } = board;
  return {
    ...{ ...table, plan, common, methods, credit, testUses },
    choices: choices.map(({ method, chosen, tried }) => ({
      method: method.name,
      chosen: chosen?.name,
      tried: tried.map(({ setting, success, bySeed }) => ({ setting: setting.name, success, bySeed })),
    })),
    attempts: attempts.map(withoutTasks),
    earlier: earlier.map(withoutTasks),
  };
}

function withoutTasks({ sampled, greedy, ...rest }: Attempt): object {
  return { ...rest, sampled: sampled?.figures, greedy: greedy?.figures };
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
