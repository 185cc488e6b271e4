import { expect, it } from 'vitest';
import { statisticsView } from '../../../../src/editor/statistics/view';
import { playedDialogue } from '../playedDialogue';

const played = playedDialogue();

it('gives the statistics by agent, by pack and by human, with periods that have names', () => {
  const { groups, periods, unit } = statisticsView(played().log.outlines(), 'en', String);
  expect(groups.pack).toMatchObject([{ name: 'written-by-hand.jsonl', dialogues: 1, leak: { value: 1 } }]);
  expect(groups.collaborator).toMatchObject([{ name: 'rules', replySeconds: { value: 21.4 } }]);
  expect(groups.agent).toHaveLength(1);
  expect(unit).toBe('hour');
  expect(periods.map(({ name }) => name)).toEqual([expect.stringMatching(/^\d+ \w+, \d\d:00$/)]);
});

it('calls groups as a person sees them, and by the names of the log where two would share one', () => {
  const [outline] = played().log.outlines();
  const rows = ['local:a/qwen', 'local:b/qwen', 'starter'].map((agent) => ({ ...outline!, agent }));
  const { groups } = statisticsView(rows, 'en', (name) => name.split('/').at(-1)!.toUpperCase());
  expect(groups.agent.map(({ name }) => name)).toEqual(['local:a/qwen', 'local:b/qwen', 'STARTER']);
});
