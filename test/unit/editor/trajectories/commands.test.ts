import { expect, it, vi } from 'vitest';
import type { ListOptions } from '../../../../src/core/trajectory/log';

vi.mock('vscode', () => import('../vscode'));

const { dialogueItems } = await import('../../../../src/editor/trajectories/commands');

/** Makes a log with so many dialogues of one task, every hundredth by another agent. */
function choice(count: number) {
  const all = Array.from({ length: count }, (_, index) => ({
    id: `e${index}`,
    agent: index % 100 === 99 ? 'rare' : 'usual',
  }));
  const list = ({ filter, limit }: ListOptions) => {
    const found = all.filter(({ agent }) => agent.includes(filter?.text ?? ''));
    return { rows: found.slice(0, limit), total: found.length };
  };
  return {
    ...{ log: { list }, task: 'one', except: 'e0', title: '', placeholder: '' },
    itemOf: ({ agent }: { readonly agent: string }) => ({ label: agent }),
  } as never;
}

it('of many the log is asked for what is typed, and what is not shown is counted', () => {
  const items = dialogueItems(choice(1500), '');
  expect(items).toHaveLength(200);
  expect(items.at(-1)?.label).toContain('1,300');
  const rare = dialogueItems(choice(1500), 'rare');
  expect(rare).toHaveLength(15);
  expect(rare.at(-1)?.episode).toBe('e1499');
});
