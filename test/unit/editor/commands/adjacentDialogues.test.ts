import { describe, expect, it, vi } from 'vitest';
import type { TrajectoryFilter } from '../../../../src/core/trajectory/log';
import { doubling, openLog, play } from '../../../fixtures/log';

vi.mock('vscode', () => import('../vscode'));
const { dialogueBeside, narrowed } = await import('../../../../src/editor/commands/dialogues');

describe('the failed dialogues of the list', () => {
  type Walk = (list: readonly TrajectoryFilter[], direction: 'next' | 'previous', from?: string) => string[];

  /** Logs a few dialogues. Returns a function that walks from failure to failure until there is none. */
  async function failing(): Promise<Walk> {
    const log = await openLog();
    await play(log, 'oldest', 0);
    await play(log, 'collected', 0, { collection: 'c' });
    await play(log, 'solved', 1);
    await play(log, 'of another task', 0, {}, { ...doubling, id: 'other' });
    await play(log, 'newest', 0.5);
    await log.append({ event: 'rating', episode: 'newest', stars: 3, by: 'kim' });
    return function walk(list, direction, from): string[] {
      const found = dialogueBeside(log, narrowed(list, 'failed'), from, direction);
      return found === undefined ? [] : [found, ...walk(list, direction, found)];
    };
  }

  it('follow each other as they stand there, the newest first, or backwards', async () => {
    const walk = await failing();
    const all = ['newest', 'of another task', 'collected', 'oldest'];
    expect(walk([{}], 'next')).toEqual(all);
    expect(walk([{}], 'previous')).toEqual(all.toReversed());
  });

  it('are counted from the dialogue that is replayed, which need not be one of them', async () => {
    const walk = await failing();
    expect(walk([{}], 'next', 'solved')).toEqual(['collected', 'oldest']);
    expect(walk([{}], 'previous', 'solved')).toEqual(['of another task', 'newest']);
    expect(walk([{}], 'next', 'oldest')).toEqual([]);
  });

  it('follow each other group by group', async () => {
    const walk = await failing();
    const groups = [{ source: 'played' }, { source: 'evaluation' }, { source: 'collected' }] as const;
    expect(walk(groups, 'next', 'of another task')).toEqual(['oldest', 'collected']);
    expect(walk(groups, 'previous', 'collected')).toEqual(['oldest', 'of another task', 'newest']);
  });
});

describe('the dialogues of the list that nobody has reviewed', () => {
  it('follow each other, with neither reviewed nor unfinished ones between them', async () => {
    const log = await openLog();
    for (const id of ['oldest', 'accepted', 'sent back', 'newest']) await play(log, id, 1);
    await log.append({ event: 'review', episode: 'accepted', state: 'accepted', by: 'kim' });
    await log.append({ event: 'review', episode: 'sent back', state: 'redo', reason: 'no', by: 'kim' });
    const next = (from: string | undefined, filter: TrajectoryFilter = {}): string | undefined =>
      dialogueBeside(log, narrowed([filter], 'unreviewed'), from, 'next');
    expect([next(undefined), next('newest'), next('oldest')]).toEqual(['newest', 'oldest', undefined]);
    expect(next(undefined, { review: 'accepted' })).toBeUndefined();
  });
});
