import { describe, expect, it, vi } from 'vitest';
import { SavedFilters } from '../../../../src/editor/trajectories/tree';

vi.mock('vscode', () => import('../vscode'));

describe('saved filters', () => {
  const memory = (kept?: unknown) => {
    let value = kept;
    const update = (_: string, next: unknown): Promise<void> => {
      value = JSON.parse(JSON.stringify(next));
      return Promise.resolve();
    };
    return { get: () => value, update };
  };

  it('are kept by name, without what is found anew each time; the same name replaces', () => {
    const kept = memory();
    const saved = new SavedFilters(kept);
    const filter = { outcome: 'failure', run: '7', agents: new Set(['local:7/model']) } as const;
    saved.save({ name: 'bad', filter, grouping: 'run' });
    const week = { lastDays: 7, since: '2026-03-01T00:00:00.000Z' };
    saved.save({ name: 'week', filter: week, grouping: 'task' });
    const chosen = { outcome: 'failure', run: '7' };
    expect(new SavedFilters(kept).all).toEqual([
      { name: 'bad', filter: chosen, grouping: 'run' },
      { name: 'week', filter: { lastDays: 7 }, grouping: 'task' },
    ]);
    saved.save({ name: 'bad', filter: { stars: 5 }, grouping: 'none' });
    expect(saved.all.map(({ name, filter: { stars } }) => [name, stars])).toEqual([
      ['week', undefined],
      ['bad', 5],
    ]);
  });

  it('of another version are neither shown nor lost', () => {
    const good = { name: 'good', filter: { stars: 3 }, grouping: 'source' };
    const newer = { name: 'newer', filter: { stars: 3, mood: 'glad' }, grouping: 'source' };
    const kept = memory([newer, good, 7, { name: 'odd', filter: {}, grouping: 'moon' }]);
    const saved = new SavedFilters(kept);
    expect(saved.all).toEqual([good]);
    saved.remove('good');
    expect(kept.get()).toEqual([newer, 7, { name: 'odd', filter: {}, grouping: 'moon' }]);
  });
});
