import { expect, it, vi } from 'vitest';
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
  expect(groups.pack).toMatchObject([{ name: 'written-by-hand.jsonl', dialogues: 1, leak: { value: 1 } }]);
  expect(groups.collaborator).toMatchObject([{ name: 'rules', replySeconds: { value: 21.4 } }]);
  expect(groups.agent).toHaveLength(1);
  expect(unit).toBe('hour');
  expect(periods.map(({ name }) => name)).toEqual([expect.stringMatching(/^\d+ \w+, \d\d:00$/)]);
});
