import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  answered,
  agentTurn,
  candidates,
  choice,
  doubling,
  kim,
  openLog,
  started,
  temporaryFolder,
} from '../../fixtures/log';
import { tandem } from './tandem';

/** Logs dialogues in which Kim preferred the second candidate, which is the rival's. */
async function judged(dialogues: number): Promise<string> {
  const data = await temporaryFolder();
  const log = await openLog(data);
  await log.recordTask(doubling);
  await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'a study', level: 'export' });
  for (let number = 0; number < dialogues; number += 1) {
    const id = `e${number}`;
    await log.appendAll([
      started(id, { collaborator: kim }),
      candidates(id, 1),
      choice(id, 1, 1),
      agentTurn(id, 1, 'OUTPUT: candidate 1 for 1?'),
      answered(id, 1),
    ]);
  }
  await log.close();
  return data;
}

describe('tandem leaderboard', () => {
  it('prints the models from the strongest, with intervals, and how often the first shown was chosen', async () => {
    const data = await judged(4);
    const { stdout, code } = await tandem('leaderboard', '--data', data);
    expect(code).toBe(0);
    const [head, first, second, ...remarks] = stdout.trim().split('\n');
    expect(head).toMatch(/^model +chosen over the average +choices +won +lost +equal +neither$/);
    expect(first).toMatch(/^openai:rival +\d\d\.\d % \[\d+\.\d, \d\d\.\d\] +4 +4 +0 +0 +0$/);
    expect(second).toMatch(/^openai:agent .* 4 +0 +4 +0 +0$/);
    expect(remarks.join(' ')).toContain(
      'Position bias: first chosen in 0.0 % [0.0, 49.0] of 4 decided choices',
    );
    const json = JSON.parse((await tandem('standing', '--data', data, '--json')).stdout) as object;
    expect(json).toMatchObject({
      rows: [
        { model: 'openai:rival', wins: 4 },
        { model: 'openai:agent', losses: 4 },
      ],
      summary: { choices: 4, groups: 1, firstShown: { decided: 4, share: 0 } },
    });
  });

  it('says how to get choices when there are none', async () => {
    const { stdout, code } = await tandem('leaderboard', '--data', await temporaryFolder());
    expect(code).toBe(0);
    expect(stdout).toContain('turn on tandem.candidates.show');
  });
});

describe('tandem export --format choices', () => {
  it('writes a preference row for each choice, and says what it needs when there is none', async () => {
    const data = await judged(2);
    const out = path.join(data, 'choices.jsonl');
    const done = await tandem('export', '--format', 'choices', '--data', data, out);
    expect(done.stdout).toContain('2 rows from 2 trajectories');
    const empty = await temporaryFolder();
    const none = await tandem(
      'export',
      '--format',
      'choices',
      '--data',
      empty,
      path.join(empty, 'out.jsonl'),
    );
    expect(none.stdout).toContain(
      'a row needs a finished dialogue in which a person chose one of two candidates',
    );
    expect(none.code).toBe(1);
  });
});
