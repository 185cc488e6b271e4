import { describe, expect, it } from 'vitest';
import { chosen, exported } from '../../fixtures/choices';
import { doubling, openLog } from '../../fixtures/log';
import { python } from '../../fixtures/trainer';

describe('exporting choices', () => {
  it('gives rows that the trainer reads as preferences between two drafts of one turn', async () => {
    const log = await openLog();
    await chosen(log, 'e1', [1, 0]);
    const { file } = await exported(log);
    const script = [
      'import json, sys',
      'from tandem_trainer.data.rows import read_preferences',
      'preferences, problems = read_preferences([sys.argv[1]])',
      'print(json.dumps([',
      '  {"task": each.chosen.task, "group": each.group,',
      '   "chosen": each.chosen.messages[-1]["content"], "rejected": each.rejected.messages[-1]["content"],',
      '   "trained": [turn.position for turn in each.chosen.turns]}',
      '  for each in preferences] + [str(problem) for problem in problems]))',
    ].join('\n');
    const read = JSON.parse(await python(script, file)) as { group: string }[];
    expect(read).toMatchObject([
      {
        task: doubling.id,
        chosen: 'OUTPUT: candidate 1 for 1?',
        rejected: 'OUTPUT: candidate 0 for 1?',
        trained: [1],
      },
      { task: doubling.id, chosen: 'OUTPUT: candidate 0 for 2?', trained: [3] },
    ]);
    expect(new Set(read.map(({ group }) => group)).size).toBe(2);
  });
});
