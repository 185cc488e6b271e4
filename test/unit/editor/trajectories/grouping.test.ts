import { describe, expect, it } from 'vitest';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { groupsOf } from '../../../../src/editor/trajectories/grouping';
import { doubling, openLog, play } from '../../../fixtures/log';
import { english } from '../translate';

describe('groups of the list', () => {
  const titleOf = (task: string): string => (task === 'doubling' ? 'Doubling' : task);
  const namer = { calledBy: (name: string) => (name === 'openai:agent' ? 'My agent' : name) };
  const groups = (of: TrajectoryLog, grouping: 'source' | 'agent' | 'task', limit = 9) => {
    const found = groupsOf(of, {}, grouping, titleOf, limit, namer, english);
    return [
      ...found.groups.map(
        ({ label, counts, isFolded }) => `${label} ${counts.total}${isFolded ? ', folded' : ''}`,
      ),
      found.total,
    ];
  };

  it('are what was played, collected and evaluated, the last folded; agents and tasks by their names', async () => {
    const grouped = await openLog();
    await play(grouped, 'own', 1, { agent: 'local:/data/runs/7/model' });
    expect(groups(grouped, 'source')).toEqual(['Played 1', 1]);
    for (const id of ['e1', 'e2']) await play(grouped, id, 0, { collection: 'evaluation-1' });
    await play(grouped, 'c1', 0, { collection: 'starter-world' }, { ...doubling, id: 'other' });
    expect(groups(grouped, 'source')).toEqual(['Played 1', 'Collected 1', 'Evaluation 2, folded', 3]);
    expect(groups(grouped, 'agent')).toEqual(['My agent 3, folded', '7/model 1, folded', 2]);
    expect(groups(grouped, 'task', 1)).toEqual(['Doubling 3, folded', 2]);
  });
});
