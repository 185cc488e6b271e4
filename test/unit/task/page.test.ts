import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../../scripts/setup/project.mjs';
import { isOwnFunction } from '../../../src/core/task/own';
import { readTasks } from '../../../src/core/task/pack';
import { parseTask, taskToRow } from '../../../src/core/task/row';
import { taskTitle } from '../../../src/core/task/title';
import { inFolder, taskRow, written } from '../../fixtures/tasks';

const published = path.resolve(root, '../shared/colbench/frontend_sample.jsonl');

const row = {
  problem_description: 'Bakery Website: a bar on top and a short welcome.',
  ground_truth: '<html><body>Fresh bread</body></html>',
};

it('takes HTML without tests for a page, whose id is a hash of its content', () => {
  const task = parseTask(row);
  expect(task).toEqual({
    kind: 'page',
    id: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    description: row.problem_description,
    reference: row.ground_truth,
  });
  expect(parseTask({ ...row, test_cases: null, hidden_information: null })).toEqual(task);
  expect(parseTask({ ...row, ground_truth: '<html></html>' }).id).not.toBe(task.id);
});

it('is written with its kind, and read again as the same task', () => {
  const task = parseTask({ ...row, kind: 'page', ground_truth: 'Only text', id: 'mine', source: 'me' });
  expect(taskToRow(task)).toMatchObject({ kind: 'page', id: 'mine', source: 'me' });
  expect(parseTask(taskToRow(task))).toEqual(task);
});

const check = { name: 'bar', where: 'header', property: 'background', equals: '#1e40af' };

it('keeps its checks, and refuses those that cannot be decided', () => {
  const task = parseTask({ ...row, checks: [{ ...check, note: null }] });
  expect(task).toMatchObject({ checks: [check] });
  expect(parseTask(taskToRow(task))).toEqual(task);
  expect(parseTask({ ...row, checks: [] })).toEqual(parseTask(row));
  const refusal = (some: object): string => {
    try {
      parseTask({ ...row, checks: [{ ...check, ...some }] });
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  expect(refusal({ where: 'header > .bar' })).toMatch(
    /^checks\[0\]\["where"\] must name elements by their tags/,
  );
  expect(refusal({ property: 'height' })).toMatch(
    /^checks\[0\]\["property"\] must be one of text, background/,
  );
  expect(refusal({ equals: 'blue' })).toBe('checks[0]["equals"] does not fit its property.');
  expect(refusal({ name: '' })).toBe('checks[0]["name"] is empty.');
});

it('takes no other kind of a row into account', () => {
  expect(parseTask(taskRow({ kind: 'easy' }))).toEqual(parseTask(taskRow()));
});

it('is no own function, and is called by the beginning of its description', () => {
  expect(isOwnFunction(parseTask(row))).toBe(false);
  expect(taskTitle(parseTask(row))).toBe('Bakery Website');
});

it('stands in packs beside functions', () =>
  inFolder(async (folder) => {
    const pack = await written(
      folder,
      'mixed.jsonl',
      [taskRow(), row].map((one) => JSON.stringify(one)).join('\n'),
    );
    expect(await Array.fromAsync(readTasks(pack))).toMatchObject([
      { task: { testCases: [{}, {}] } },
      { task: { kind: 'page' } },
    ]);
  }));

it('reads each published row', (context) => {
  if (!existsSync(published)) context.skip('The published sample is not beside the repository.');
  const tasks = readFileSync(published, 'utf8')
    .trim()
    .split('\n')
    .map((line) => parseTask(JSON.parse(line)));
  expect(tasks).toHaveLength(100);
  expect(tasks.filter(({ kind }) => kind !== 'page')).toEqual([]);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(100);
});
