import { expect, it, vi } from 'vitest';
import { PinnedCharts } from '../../../../src/editor/run/charts';
import { EditorMemory } from '../stage';

vi.mock('vscode', () => import('../vscode'));

const loss = { stage: 'critic', figure: 'loss' } as const;
const entropy = { stage: 'policy', figure: 'entropy' } as const;

it('charts are pinned once, in the order of pinning, for the next window, too', async () => {
  const memory = new EditorMemory();
  const pinned = new PinnedCharts(memory);
  let changes = 0;
  pinned.onDidChange(() => (changes += 1));
  for (const chart of [loss, entropy, loss]) await pinned.pin(chart, true);
  expect(pinned.all).toEqual([entropy, loss]);
  await pinned.pin(entropy, false);
  expect(new PinnedCharts(memory).all).toEqual([loss]);
  expect(changes).toBe(4);
});
