import { expect, it, vi } from 'vitest';
import type { Table } from '../../../../src/core/evaluation/report/table';
import { playedDialogue } from '../playedDialogue';

vi.mock('vscode', () => import('../vscode'));

const { statisticsView } = await import('../../../../src/editor/statistics/panel');

const played = playedDialogue();
const calledAs =
  (called: (name: string) => string) =>
  (names: readonly string[]): ReadonlyMap<string, string> =>
    new Map(names.map((name) => [name, called(name)]));

it('gives the statistics by agent, by pack and by human, with periods that have names', () => {
  const { groups, periods, unit } = statisticsView(played().log.outlines(), 'en', calledAs(String));
  const cellOf = ({ columns, rows }: Table, column: string) =>
    rows[0]!.cells[columns.findIndex(({ name }) => name === column)];
  expect(groups.pack.rows.map(({ name }) => name)).toEqual(['written-by-hand.jsonl']);
  expect(cellOf(groups.pack, 'leak')).toMatchObject({ value: 1, of: 1 });
  expect(groups.collaborator.rows.map(({ name }) => name)).toEqual(['rules']);
  expect(cellOf(groups.collaborator, 'replySeconds')).toMatchObject({ value: 21.4 });
  expect(groups.agent.rows).toHaveLength(1);
  expect(unit).toBe('hour');
  expect(periods.rows.map(({ name }) => name)).toEqual([expect.stringMatching(/^\d+ \w+, \d\d:00$/)]);
});
