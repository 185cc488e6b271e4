import { describe, expect, it } from 'vitest';
import { chosen, exported } from '../../../fixtures/choices';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  doubling,
  judgement,
  kim,
  openLog,
  play,
  started,
} from '../../../fixtures/log';

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

  it('counts who judged the same candidates later, the same or otherwise, as far as they let that leave', async () => {
    const log = await openLog();
    await chosen(log, 'e1', [1, 0]);
    const [first] = (await log.trajectory('e1'))!.turns.flatMap(({ candidates: pairs = [] }) => pairs);
    await log.appendAll([
      { event: 'consent', pseudonym: 'ada', purpose: 'a study', level: 'export' },
      { event: 'consent', pseudonym: 'ben', purpose: 'a study', level: 'export' },
      { event: 'consent', pseudonym: 'local', purpose: 'a study', level: 'local' },
      judgement(first!, 0, 1, 'ada'),
      judgement(first!, 0, 'neither', 'ben'),
      judgement(first!, 0, 1, 'local'),
    ]);
    const [judged, other] = (await exported(log)).rows;
    expect(judged).toMatchObject({ tandem: { turn: 1, judged_same: 1, judged_otherwise: 1 } });
    expect(JSON.stringify(judged)).not.toMatch(/ada|ben/);
    expect(Object.keys(other!.tandem as object)).not.toContain('judged_same');
  });

  it('leaves out what prefers nothing, and what the other formats leave out, and counts it', async () => {
    const log = await openLog();
    await chosen(log, 'e1', ['equal', 'neither', 0]);
    await play(log, 'e2', 1);
    await log.appendAll([started('open'), candidates('open', 1), choice('open', 1, 0)]);
    const [empty, spoken] = candidates('e3', 1).candidates;
    await log.appendAll([
      started('e3', { collaborator: kim }),
      { ...candidates('e3', 1), candidates: [{ ...empty, text: ' ' }, spoken] },
      choice('e3', 1, 1),
      agentTurn('e3', 1, spoken.text),
      answered('e3', 1),
    ]);
    const { rows, leftOut, trajectories } = await exported(log);
    expect([rows.length, trajectories]).toEqual([1, 1]);
    expect(leftOut).toEqual({
      'not finished': 1,
      'without a choice between candidates': 1,
      'choices of candidates that are equal': 2,
      'choices of neither candidate': 1,
      'choices with an empty candidate': 1,
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
});
