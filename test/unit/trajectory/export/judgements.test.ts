import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportTrajectories, type ExportResult } from '../../../../src/core/trajectory/export/export';
import type { JUDGED } from '../../../../src/core/trajectory/export/judgements';
import type { NewEvent } from '../../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { chosen, render } from '../../../fixtures/choices';
import {
  agentTurn,
  answered,
  doubling,
  kim,
  openLog,
  reply,
  started,
  temporaryFolder,
  verdict,
} from '../../../fixtures/log';

async function exported(
  log: TrajectoryLog,
  format: keyof typeof JUDGED,
): Promise<ExportResult & { readonly read: unknown[] }> {
  const file = join(await temporaryFolder(), 'out.jsonl');
  const result = await exportTrajectories(log, file, { format, render });
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  return { ...result, read: lines.map((line) => JSON.parse(line) as unknown) };
}

const request = { role: 'user', content: doubling.description };

/** Logs a finished dialogue of four turns of the agent, and what was said of them. */
async function judged(
  said: readonly NewEvent[],
  level: 'local' | 'export' = 'export',
): Promise<TrajectoryLog> {
  const log = await openLog();
  await log.recordTask(doubling);
  await log.append({ event: 'consent', pseudonym: kim.name, purpose: 'a study', level });
  await log.append(started('e1'));
  for (const turn of [1, 2, 3]) await log.appendAll([agentTurn('e1', turn), reply('e1', turn)]);
  await log.appendAll([agentTurn('e1', 4), answered('e1', 4), ...said]);
  return log;
}

const thumb = (turn: number, which?: 'up' | 'down', by = kim.name): NewEvent => ({
  ...{ event: 'turn-rating', episode: 'e1', turn, by },
  ...(which && { thumb: which }),
});

describe('exporting thumbs', () => {
  it('writes a row for each thumb: the conversation before the message, the message, and what was said', async () => {
    const { read } = await exported(await judged([thumb(1, 'down'), thumb(2, 'up'), thumb(3)]), 'unpaired');
    expect(read).toEqual([
      {
        prompt: [request],
        completion: [{ role: 'assistant', content: 'OUTPUT: question 1?' }],
        label: false,
        tandem: { episode: 'e1', task: doubling.id, agent: 'openai:agent', turn: 1 },
      },
      {
        prompt: [
          ...[request, { role: 'assistant', content: 'OUTPUT: question 1?' }],
          { role: 'user', content: 'reply 1 of openai:simulator' },
        ],
        completion: [{ role: 'assistant', content: 'OUTPUT: question 2?' }],
        label: true,
        tandem: { episode: 'e1', task: doubling.id, agent: 'openai:agent', turn: 2 },
      },
    ]);
  });

  it('counts a dialogue without thumbs, and the thumbs that are to stay on this machine', async () => {
    const none = await exported(await judged([]), 'unpaired');
    expect([none.read, none.leftOut]).toEqual([[], { 'without a thumb': 1 }]);
    const local = await exported(await judged([thumb(1, 'up'), thumb(2, 'up')], 'local'), 'unpaired');
    expect([local.read, local.leftOut]).toEqual([[], { 'thumbs that may not leave this machine': 2 }]);
  });

  it('writes every person’s thumb for a message: one that stays here and a remark hide no other', async () => {
    const ada: NewEvent = { event: 'consent', pseudonym: 'ada', purpose: 'a study', level: 'export' };
    const remark: NewEvent = { event: 'turn-rating', episode: 'e1', turn: 1, comment: 'Vague.', by: 'sam' };
    const log = await judged([
      ada,
      ...[thumb(1, 'up'), thumb(1, 'down', 'ada'), thumb(1, 'down', 'ben'), remark],
      ...[thumb(2, 'up'), thumb(2, 'down', 'ben')],
    ]);
    const { read, leftOut } = await exported(log, 'unpaired');
    expect(read).toMatchObject([
      { label: true, tandem: { turn: 1 } },
      { label: false, tandem: { turn: 1 } },
      { label: true, tandem: { turn: 2 } },
    ]);
    expect(leftOut).toEqual({ 'thumbs that may not leave this machine': 2 });
  });
});

describe('exporting verdicts on critics', () => {
  it('labels a turn as good where a person agrees that it helped or disagrees that it hurt', async () => {
    const said = [
      ...[verdict('e1', 1, true), verdict('e1', 2, false)],
      ...[verdict('e1', 3, true, { advantage: -1 }), verdict('e1', 4, false, { advantage: -1 })],
    ];
    const { read } = await exported(await judged(said), 'stepwise');
    expect(read).toEqual([
      {
        prompt: `User: ${doubling.description}`,
        completions: [
          'Assistant: OUTPUT: question 1?',
          'User: reply 1 of openai:simulator\n\nAssistant: OUTPUT: question 2?',
          'User: reply 2 of openai:simulator\n\nAssistant: OUTPUT: question 3?',
          'User: reply 3 of openai:simulator\n\nAssistant: OUTPUT: question 4?',
        ],
        labels: [true, false, false, true],
        tandem: { episode: 'e1', task: doubling.id, agent: 'openai:agent', turn: 1 },
      },
    ]);
  });

  it('counts turns without a label, and dialogues without a verdict that may leave this machine', async () => {
    const said = [
      ...[verdict('e1', 1, true), verdict('e1', 1, false, { critic: 'critic-2' })],
      verdict('e1', 2, true, { advantage: 0 }),
    ];
    const unclear = await exported(await judged(said), 'stepwise');
    expect([unclear.read, unclear.leftOut]).toEqual([
      [],
      {
        'turns on which verdicts contradict each other': 1,
        'turns that neither helped nor hurt, says the critic': 1,
      },
    ]);
    for (const log of [await judged([]), await judged([verdict('e1', 1, true)], 'local')]) {
      const { read, leftOut } = await exported(log, 'stepwise');
      expect([read, leftOut]).toEqual([[], { 'without a verdict on a critic': 1 }]);
    }
  });
});

it('writes the choices for LLaMA-Factory and Axolotl with one message on each side', async () => {
  const log = await openLog();
  await chosen(log, 'e1', [1]);
  for (const format of ['llamafactory-ranking', 'axolotl-dpo'] as const) {
    const { read } = await exported(log, format);
    expect(read).toEqual([
      {
        messages: [request],
        chosen: { role: 'assistant', content: 'OUTPUT: candidate 1 for 1?' },
        rejected: { role: 'assistant', content: 'OUTPUT: candidate 0 for 1?' },
        tandem: {
          ...{ episode: 'e1', task: doubling.id, agent: 'openai:agent', turn: 1 },
          ...{ chosen_agent: 'openai:rival', rejected_agent: 'openai:agent' },
        },
      },
    ]);
  }
});
