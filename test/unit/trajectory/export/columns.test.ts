import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SeenColumns, withReals } from '../../../../src/core/trajectory/export/columns';
import { exportTrajectories } from '../../../../src/core/trajectory/export/export';
import { importTrajectories } from '../../../../src/core/trajectory/import';
import { openLog, temporaryFolder } from '../../../fixtures/log';
import { taskRow, written } from '../../../fixtures/tasks';

it('whole numbers of real columns are written as real ones, and no text changes', () => {
  const row = { text: '"reward":1,', reward: 1, minP: 0, turn: 1, logprobs: [0, -1, -0.5, 1e-7] };
  const text = withReals(JSON.stringify(row));
  expect(text).toContain('"reward":1.0,"minP":0.0,"turn":1,"logprobs":[0.0,-1.0,-0.5,1e-7]');
  expect(JSON.parse(text)).toEqual(row);
});

it('a row brings a column when it has a field or a type that none before has', () => {
  const columns = new SeenColumns();
  const rows = [{ a: [1, 2], b: null }, { a: [3] }, { a: [3, 0.5] }, { b: { c: [] } }, { b: { c: ['x'] } }];
  expect(rows.map((row) => columns.add(row))).toEqual([true, false, true, true, true]);
});

it('the rows of a long file that show its columns stand first', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  const rows = Array.from({ length: 5 }, (_, index) => ({
    task: taskRow({
      problem_description: `${index} ${'x'.repeat(3_000_000)}`,
      test_cases: index < 4 ? { test1: 'f(1)' } : { test1: 'f(1)', test2: 'f(2)' },
    }),
    dialogue_history: [{ role: 'agent', content: 'Done.' }],
    ...{ answer: 'def f(x): pass', reward: 1 },
  }));
  const imported = await importTrajectories(
    log,
    await written(folder, 'rows.jsonl', rows.map((row) => JSON.stringify(row)).join('\n')),
  );
  expect(imported).toMatchObject({ imported: rows.length, bad: [] });
  const file = join(folder, 'out.jsonl');
  const exported = await exportTrajectories(log, file, {
    format: 'trajectories',
    mode: 'paper',
    staysHere: true,
    visible: ({ agent }) => agent.text,
  });
  expect(exported).toMatchObject({ rows: rows.length });
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const numbers = lines.map((line) => /"problem_description":"(\d)/.exec(line)?.[1]);
  expect(numbers).toEqual(['0', '4', '1', '2', '3']);
});
