import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareData } from '../../../src/core/training/data/prepare';
import type { SelectionReport } from '../../../src/core/training/data/report';
import type { NewEvent } from '../../../src/core/trajectory/event';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  dialogue,
  doubling,
  graded,
  kim,
  leak,
  openLog,
  play,
  reply,
  started,
  temporaryFolder,
} from '../../fixtures/log';

interface Row {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly reward: number;
  readonly tandem: { readonly episode: string };
}

type Rows = SelectionReport & { readonly rows: readonly Row[]; readonly ids: readonly string[] };

/** Returns the rows that a run on the log would train on. */
async function rowsOf(folder: string): Promise<Rows> {
  const run = await temporaryFolder();
  const report = await prepareData({ log: folder }, run, {
    prompts: resolve('trainer/tandem_trainer/data/prompts'),
  });
  const text = await readFile(join(run, 'data', 'trajectories.jsonl'), 'utf8');
  const rows = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
  return { ...report, rows, ids: rows.map(({ tandem }) => tandem.episode) };
}

const said = ({ messages }: Row): string[] => messages.slice(1).map(({ content }) => content);

/** Creates the data folder of a log with these events and one other dialogue. */
async function logOf(...events: readonly NewEvent[]): Promise<string> {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await play(log, 'other', 1);
  await log.appendAll(events);
  return folder;
}

describe('a row of a run', () => {
  it('has a version, the task with its hidden information, the messages as the agent saw them, and what the sampler said', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await log.recordTask({ ...doubling, hiddenInformation: 'Only of whole numbers.' });
    await log.appendAll([
      started('a', { protocol: { maxTurns: 6, replyLimit: 300 } }),
      {
        ...{ event: 'agent-turn', episode: 'a', turn: 1, text: 'Of what?', model: 'agent' },
        ...{ finishReason: 'stop', reasoning: 'Hm.', promptTokenIds: [1, 2] },
        tokens: { ids: [5, 6], logprobs: [-0.5, -0.25] },
      },
      reply('a', 1),
      {
        ...{ event: 'agent-turn', episode: 'a', turn: 2, text: 'Done.', model: 'agent' },
        finishReason: 'length',
      },
      answered('a', 2),
      graded('a', 0.5),
    ]);
    const { rows } = await rowsOf(folder);
    expect(rows).toMatchObject([
      {
        task: { id: doubling.id, hidden_information: 'Only of whole numbers.' },
        messages: [
          { role: 'user', content: expect.stringMatching(/at most 6 messages[^]*double\(n\)/) as string },
          { role: 'assistant', content: 'Of what?' },
          { role: 'user', content: 'reply 1 of openai:simulator' },
          { role: 'assistant', content: 'Done.' },
        ],
        reward: 0.5,
        tandem: {
          ...{ version: 1, episode: 'a', success: false, leaked: false, agent: 'openai:agent' },
          turns: [
            {
              ...{ finish_reason: 'stop', reasoning: 'Hm.', prompt_token_ids: [1, 2] },
              ...{ token_ids: [5, 6], logprobs: [-0.5, -0.25] },
            },
            { finish_reason: 'length' },
          ],
        },
      },
    ]);
  });

  it('has the turns that were played last, without what was said after those they took the place of', async () => {
    const { rows, left_out } = await rowsOf(
      await logOf(
        ...dialogue('again', 0),
        leak('again', 1, 0.9, true),
        agentTurn('again', 1, 'Another question?'),
        reply('again', 1, { kind: 'simulator', name: 'another' }),
        agentTurn('again', 2, 'Another answer.'),
        answered('again', 2),
        graded('again', 0.25),
        ...dialogue('unfinished', 1),
        agentTurn('unfinished', 1),
      ),
    );
    expect(said(rows[1]!)).toEqual(['Another question?', 'reply 1 of another', 'Another answer.']);
    expect(rows[1]!.reward).toBe(0.25);
    expect(left_out).toEqual({ 'not finished': 1 });
  });

  it('has the answer and the grade that were given last, and none while it is open again', async () => {
    const { rows, left_out } = await rowsOf(
      await logOf(
        ...[...dialogue('regraded', 0), graded('regraded', 0.75), graded('regraded', 0.25, 'paper')],
        ...[...dialogue('reopened', 1), { event: 'resumed', episode: 'reopened' } as const],
        ...[...dialogue('ungraded', 1), { event: 'resumed', episode: 'ungraded' } as const],
        answered('ungraded', 2),
      ),
    );
    expect(rows.map(({ tandem, reward }) => [tandem.episode, reward])).toEqual([
      ['other', 1],
      ['regraded', 0.75],
    ]);
    expect(left_out).toEqual({ 'not finished': 1, 'not graded': 1 });
  });

  it('is bound by candidates of which somebody said something, and not by those that others took the place of', async () => {
    const rivals = ['openai:agent', 'vscode:copilot/some'] as const;
    const folder = await logOf(
      started('retaken'),
      candidates('retaken', 1, rivals),
      candidates('retaken', 1),
      choice('retaken', 1, 0),
      agentTurn('retaken', 1, 'OUTPUT: candidate 0 for 1?'),
      answered('retaken', 1),
      graded('retaken', 1),
      started('lost'),
      candidates('lost', 1, rivals),
      choice('lost', 1, 0),
      agentTurn('lost', 1, 'OUTPUT: candidate 0 for 1?'),
      answered('lost', 1),
      graded('lost', 1),
    );
    expect(await rowsOf(folder)).toMatchObject({ ids: ['other'], left_out: { 'no consent': 2 } });
    await (await openLog(folder)).append({ event: 'consent', pseudonym: kim.name, purpose: 'a study' });
    expect(await rowsOf(folder)).toMatchObject({ ids: ['other', 'retaken'], left_out: { 'model terms': 1 } });
  });

  it('is not written of a dialogue that was deleted, was answered without a turn or lacks one', async () => {
    const folder = await logOf(
      ...[...dialogue('deleted', 1), { event: 'deleted', episode: 'deleted' } as const],
      ...dialogue('restored', 1),
      ...(['deleted', 'undeleted'] as const).map((event) => ({ event, episode: 'restored' })),
      ...[started('silent'), answered('silent', 1), graded('silent', 1)],
      ...[started('gap'), agentTurn('gap', 2), answered('gap', 2), graded('gap', 1)],
      ...[...dialogue('stray', 1), reply('stray', 7)],
      ...[
        ...dialogue('repaired', 1),
        { event: 'lines-lost', episode: 'repaired', reason: 'A sum.' } as const,
      ],
    );
    expect(await rowsOf(folder)).toMatchObject({
      ids: ['other', 'restored'],
      left_out: { deleted: 1, damaged: 4 },
    });
  });
});
