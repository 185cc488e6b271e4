import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { RunRow } from '../../../../webview/runs/protocol';

// The toolkit needs a browser.
vi.mock('@vscode/webview-ui-toolkit', () => import('../toolkit'));

interface Column {
  readonly name: string;
  readonly isNumber?: true;
}
type Rows = readonly RunRow[];

// The import is dynamic, because views are another TypeScript program with browser types.
const { columnsOf, narrowed, runsCsv } = (await import(path.resolve('webview/runs/columns.ts'))) as {
  readonly columnsOf: (open: () => void) => readonly Column[];
  readonly narrowed: (runs: Rows, text: string) => Rows;
  readonly runsCsv: (runs: Rows) => string;
};
const { sortedRows } = (await import(path.resolve('webview/ui/sortable.ts'))) as {
  readonly sortedRows: (rows: Rows, columns: readonly Column[], sort: object) => Rows;
};

const run = (id: string, fields: Partial<RunRow> = {}): RunRow => ({
  ...{ id, name: id, tags: [], note: '', state: 'done', stateLabel: 'done', method: 'SWEET-RL' },
  ...{ base: 'starter', evaluatedOn: '', started: '2026-11-20T22:00:00.000Z' },
  ...{ startedLabel: '20 Nov 2026, 22:00', duration: '' },
  ...fields,
});
const gain = (difference: number): Partial<RunRow> => ({ gain: { value: difference } });
const columns = columnsOf(() => undefined);
const ids = (rows: Rows): string[] => rows.map(({ id }) => id);

describe('the table of runs is sorted', () => {
  const runs = [run('a', gain(0.1)), run('b'), run('c', gain(-0.2)), run('d', gain(0.3)), run('e')];
  const by = (column: string, isDescending: boolean, rows: Rows = runs): string[] =>
    ids(sortedRows(rows, columns, { column, isDescending }));

  it('by what runs gained, and those that were not evaluated come last both ways', () => {
    expect(by('gain', true)).toEqual(['d', 'a', 'c', 'b', 'e']);
    expect(by('gain', false)).toEqual(['c', 'a', 'd', 'b', 'e']);
  });

  it('by name as people count, and stays as it was where values are equal', () => {
    const named = ['try 10', 'Try 9', 'try 1'].map((name) => run(name));
    expect(by('name', false, named)).toEqual(['try 1', 'Try 9', 'try 10']);
    expect(by('method', true)).toEqual(ids(runs));
    expect(by('a column of another version', true)).toEqual(ids(runs));
  });
});

it('the table of runs is narrowed to those that have all words, wherever they stand', () => {
  const runs = [
    run('r1', { name: 'first try', tags: ['paper', 'seed 2'], note: 'Half the learning rate.' }),
    run('r2', { name: 'second try', tags: ['paper'], method: 'rejection fine-tuning' }),
    run('r3', { name: 'third', stateLabel: 'running, critic 61 %', evaluatedOn: 'starter-world, 20 tasks' }),
  ];
  expect(ids(narrowed(runs, ''))).toEqual(['r1', 'r2', 'r3']);
  expect(ids(narrowed(runs, '#PAPER try'))).toEqual(['r1', 'r2']);
  expect(ids(narrowed(runs, ' half  paper '))).toEqual(['r1']);
  expect(ids(narrowed(runs, 'running world'))).toEqual(['r3']);
});

it('the table of runs is written as CSV with all figures, and empty cells where there are none', () => {
  const interval = { low: 0.1, high: 0.3 };
  const full = run('r1', {
    ...{ name: '=first', tags: ['paper', 'seed 2'], note: 'Half', trajectories: 1800, tasks: 300 },
    ...{ evaluatedOn: 'starter', success: { value: 0.4, interval: { low: 0.2, high: 0.6 } } },
    ...{ gain: { value: -0.2, interval }, pairAccuracy: 0.75, seconds: 200 },
  });
  expect(runsCsv([full, run('r2')]).split('\r\n')).toEqual([
    'id,name,state,method,base,trajectories,tasks,evaluated_on,success,success_low,success_high,gain,gain_low,gain_high,pair_accuracy,started,seconds,tags,note',
    `r1,'=first,done,SWEET-RL,starter,1800,300,starter,0.4,0.2,0.6,-0.2,0.1,0.3,0.75,2026-11-20T22:00:00.000Z,200,"paper, seed 2",Half`,
    'r2,r2,done,SWEET-RL,starter,,,,,,,,,,,2026-11-20T22:00:00.000Z,,,',
    '',
  ]);
});
