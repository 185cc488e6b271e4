import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportTrajectories, type ExportOptions } from '../../../src/core/trajectory/export/export';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import type { ConsentLevel } from '../../../src/core/trajectory/consent';
import type { Picked } from '../../../src/core/trajectory/event';
import { python } from '../../fixtures/trainer';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  doubling,
  kim,
  openLog,
  play,
  reply,
  started,
  temporaryFolder,
} from './fixtures';

/** A dialogue of kim's with a choice for each of its turns, and kim's consent. */
async function chosen(
  log: TrajectoryLog,
  episode: string,
  picks: readonly Picked[],
  level: ConsentLevel = 'export-with-edits',
): Promise<void> {
  await log.recordTask(doubling);
  await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'a study', level });
  await log.append(started(episode, { collaborator: kim }));
  for (const [index, picked] of picks.entries()) {
    const turn = index + 1;
    await log.appendAll([
      candidates(episode, turn),
      choice(episode, turn, picked),
      ...(picked === 'neither' ? [candidates(episode, turn), choice(episode, turn, 'equal')] : []),
      agentTurn(episode, turn, `OUTPUT: candidate ${picked === 1 ? 1 : 0} for ${turn}?`),
      ...(turn === picks.length ? [answered(episode, turn)] : [reply(episode, turn, kim)]),
    ]);
  }
}

async function exported(log: TrajectoryLog, options: Partial<ExportOptions> = {}) {
  const file = join(await temporaryFolder(), 'out.jsonl');
  const result = await exportTrajectories(log, file, {
    ...options,
    format: 'choices',
    render: ({ task, turns }) => [
      { role: 'user', content: task.description },
      ...turns.flatMap((turn) => [
        { role: 'assistant' as const, content: turn.agent.text },
        ...(turn.reply ? [{ role: 'user' as const, content: turn.reply.text }] : []),
      ]),
    ],
  });
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  return { ...result, rows: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('exporting choices', () => {
  it('writes a row for each choice: the conversation before it, the chosen message, the rejected one', async () => {
    const log = await openLog();
    await chosen(log, 'e1', [1, 0]);
    const { rows } = await exported(log);
    expect(rows).toMatchObject([
      {
        prompt: [{ role: 'user', content: doubling.description }],
        chosen: [{ role: 'assistant', content: 'OUTPUT: candidate 1 for 1?' }],
        rejected: [{ role: 'assistant', content: 'OUTPUT: candidate 0 for 1?' }],
        tandem: {
          ...{ episode: 'e1', task: doubling.id, turn: 1, position: 1, chosen_by: 'kim', milliseconds: 1500 },
          chosen: { agent: 'openai:rival', model: 'openai:rival', sampling: { seed: 1 } },
          rejected: { agent: 'openai:agent' },
        },
      },
      {
        prompt: [
          { role: 'user' },
          { role: 'assistant', content: 'OUTPUT: candidate 1 for 1?' },
          { role: 'user', content: 'reply 1 of kim' },
        ],
        tandem: { turn: 2, position: 0, chosen: { agent: 'openai:agent' } },
      },
    ]);
  });

  it('leaves out what prefers nothing, and what the other formats leave out, and counts it', async () => {
    const log = await openLog();
    await chosen(log, 'e1', ['equal', 'neither', 0]);
    await play(log, 'e2', 1);
    await log.appendAll([started('open'), candidates('open', 1), choice('open', 1, 0)]);
    const { rows, leftOut, trajectories } = await exported(log);
    expect([rows.length, trajectories]).toEqual([1, 1]);
    expect(leftOut).toEqual({
      'not finished': 1,
      'without a choice between candidates': 1,
      'choices of candidates that are equal': 2,
      'choices of neither candidate': 1,
    });
  });

  it('asks for consent as the other formats do: to the rows, and to how long the choices took', async () => {
    const log = await openLog();
    await chosen(log, 'e1', [1], 'export');
    const [row] = (await exported(log)).rows;
    expect(row).toMatchObject({ tandem: { chosen_by: 'kim' } });
    expect(row?.tandem).not.toHaveProperty('milliseconds');
    await chosen(log, 'e2', [1], 'local');
    const { rows, leftOut } = await exported(log);
    expect(rows).toEqual([]);
    expect(Object.values(leftOut)).toEqual([2]);
  });

  it('leaves out what a model of the editor wrote, also where every choice went to the other one', async () => {
    const log = await openLog();
    await chosen(log, 'ours', [1]);
    const agents = ['vscode:copilot/some', 'openai:rival'] as const;
    await log.appendAll([
      started('lost', { collaborator: kim }),
      candidates('lost', 1, agents),
      choice('lost', 1, 1),
      agentTurn('lost', 1, 'OUTPUT: candidate 1 for 1?'),
      answered('lost', 1),
    ]);
    const { rows, leftOut } = await exported(log);
    expect(rows).toMatchObject([{ tandem: { episode: 'ours' } }]);
    expect(leftOut).toEqual({ 'model terms': 1 });
    const all = await exported(log, { withEditorModels: true });
    expect(all.rows).toMatchObject([{}, { tandem: { rejected: { agent: 'vscode:copilot/some' } } }]);
  });

  it('describes itself in the dataset card, with who took part', async () => {
    const log = await openLog();
    await chosen(log, 'e1', [0]);
    const card = await readFile((await exported(log)).card, 'utf8');
    expect(card).toContain('preference rows of single turns, chosen by people');
    expect(card).toMatch(/\| kim \| a study/);
  });

  it('gives rows that the trainer reads as preferences between two drafts of one turn', async () => {
    const log = await openLog();
    await chosen(log, 'e1', [1, 0]);
    const { file } = await exported(log);
    const script = [
      'import json, sys',
      'from tandem_trainer.data.rows import read_preferences',
      'read = read_preferences([sys.argv[1]])',
      'print(json.dumps([',
      '  {"task": each.chosen.task, "group": each.group,',
      '   "chosen": each.chosen.messages[-1]["content"], "rejected": each.rejected.messages[-1]["content"],',
      '   "trained": [turn.position for turn in each.chosen.turns]}',
      '  for each in read.preferences] + [str(problem) for problem in read.problems]))',
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
