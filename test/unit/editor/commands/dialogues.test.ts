import { expect, it, vi } from 'vitest';
import type { ListOptions } from '../../../../src/core/trajectory/log';
import type { TrajectorySummary } from '../../../../src/core/trajectory/trajectory';
import { acts, type Input } from '../vscode';

vi.mock('vscode', () => import('../vscode'));

const { continueOtherwise, dialogueItems } = await import('../../../../src/editor/commands/dialogues');

/** Offers these dialogues of one task; the first one is compared with another. */
function choice(all: readonly Partial<TrajectorySummary>[]) {
  const usual = {
    ...{ agent: 'usual', collaborator: { kind: 'rules', name: 'rules' }, turns: 2, seed: 1 },
    grades: {},
  };
  const rows = all.map((one, index) => ({
    id: `e${index}`,
    startedAt: '2026-11-22T10:00:00Z',
    ...usual,
    ...one,
  }));
  const list = ({ filter, limit }: ListOptions) => {
    const found = rows.filter(({ agent }) => agent.includes(filter?.text ?? ''));
    return { rows: found.slice(0, limit), total: found.length };
  };
  return { log: { list }, engine: { calledBy: (name: string) => name }, task: 'one', except: 'e0' } as never;
}

it('of many the log is asked for what is typed, and what is not shown is counted', () => {
  const many = choice(
    Array.from({ length: 1500 }, (_, index) => ({ agent: index % 100 === 99 ? 'rare' : 'usual' })),
  );
  const items = dialogueItems(many, '');
  expect(items).toHaveLength(200);
  expect(items.at(-1)?.label).toContain('1,300');
  const rare = dialogueItems(many, 'rare');
  expect(rare).toHaveLength(15);
  expect(rare.at(-1)?.value).toBe('e1499');
});

it('says of each dialogue only what tells it apart from the others', () => {
  const described = (...all: readonly Partial<TrajectorySummary>[]) =>
    dialogueItems(choice(all), '').map(({ description }) => description);
  expect(described({}, { seed: 2 }, { seed: 3, agent: 'trained' })).toEqual([
    'usual · seed 2',
    'trained · seed 3',
  ]);
  const [earlier, later] = described(
    {},
    { startedAt: '2026-11-22T10:00:07Z' },
    { startedAt: '2026-11-22T10:00:09Z' },
  );
  expect(earlier).toContain(':07');
  expect(later).toContain(':09');
});

const pick =
  (label: string) =>
  (list: Input): void => {
    list.selectedItems = list.items.filter((item) => item.label.startsWith(label));
    list.accepted.fire();
  };

const write =
  (...texts: readonly string[]) =>
  (input: Input): void =>
    texts.forEach((text) => input.type(text));

it.each([
  [[pick('Simulator')], undefined],
  [[pick('Choose a seed'), write('-1', 'seven', '7'), pick('Simulator')], 7],
  [[pick('Choose a seed'), write('7'), pick('Choose a seed'), write(''), pick('Simulator')], undefined],
])('a fork has a new seed unless one is chosen (%#)', async (chosen, seed) => {
  const engine = { agentName: 'starter', simulatorName: 'rules', calledBy: (name: string) => name };
  const fork = vi.fn();
  acts.push(...chosen);
  const row = { kind: 'message', episode: 'e0', at: { turn: 2, by: 'reply' } } as const;
  await continueOtherwise(
    { engines: { withEpisode: () => Promise.resolve(engine) }, panels: { fork } } as never,
    row,
  );
  expect(fork).toHaveBeenCalledExactlyOnceWith('e0', row.at, 'simulator', seed);
});
