import { describe, expect, it } from 'vitest';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { groupsOf } from '../../../../src/editor/trajectories/grouping';
import { doubling, openLog, play } from '../../../fixtures/log';
import { english } from '../translate';

describe('groups of the list', () => {
  const titleOf = (task: string): string => (task === 'doubling' ? 'Doubling' : task);
  const namer = {
    calledBy: (name: string) => (name === 'openai:agent' ? 'My agent' : name),
    runOf: (agent: string) => {
      const id = /runs\/(.+)\/model$/.exec(agent)?.[1];
      return id === undefined ? undefined : { id, name: id === 'b-0003' ? 'Short' : 'Night run' };
    },
  };
  const groups = (
    of: TrajectoryLog,
    grouping: 'source' | 'run' | 'agent' | 'collaborator' | 'task',
    limit = 9,
    filter = {},
  ) => {
    const found = groupsOf(of, filter, grouping, titleOf, limit, namer, english);
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
    expect(groups(grouped, 'source', 9, { source: 'collected' })).toEqual(['Collected 1', 1]);
    expect(groups(grouped, 'agent')).toEqual(['My agent 3, folded', '7/model 1, folded', 2]);
    expect(groups(grouped, 'task', 1)).toEqual(['Doubling 3, folded', 2]);
  });

  it('are the runs whose models played, under whatever name in the log, and at the end all other agents', async () => {
    const log = await openLog();
    const by = (agent: string, collection?: string) => ({ agent, ...(collection && { collection }) });
    await play(log, 'a', 1, by('local:.tandem/runs/a-0001/model'));
    await play(log, 'b', 0, by('local:/data/.tandem/runs/a-0001/model', 'evaluation-1'));
    await play(log, 'c', 0, by('local:.tandem/runs/a-0002/model'));
    await play(log, 'd', 0, by('local:.tandem/runs/b-0003/model'));
    for (const id of ['e', 'f', 'g']) await play(log, id, 0, by(id === 'g' ? 'openai:agent' : 'starter'));
    const runs = ['Night run (0001) 2, folded', 'Night run (0002) 1, folded', 'Short 1, folded'];
    expect(groups(log, 'run')).toEqual([...runs, 'Other agents 3, folded', 4]);
    expect(groups(log, 'run', 2)).toEqual([...runs.slice(0, 2), 4]);
    expect(groups(log, 'run', 9, { source: 'evaluation' })).toEqual(['Night run 1, folded', 1]);
    expect(log.count({ agents: new Set() }).total).toBe(0);
  });
});
