import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ModelSimulator } from '../../../src/core/dialogue/simulator';
import type { ChatMessage, Model } from '../../../src/core/model/model';
import { parseConfiguration, type LogSelection } from '../../../src/core/training/configuration';
import { countData } from '../../../src/core/training/data/countData';
import { prepareData } from '../../../src/core/training/data/prepare';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { shippedPrompts } from '../../fixtures/dialogue';
import { agentTurn, answered, dialogue, doubling, graded, kim, leak } from '../../fixtures/log';
import { openLog, reply, simulator, started, temporaryFolder } from '../../fixtures/log';

interface Row {
  readonly messages: readonly ChatMessage[];
  readonly tandem: { readonly episode: string; readonly turn: number };
}

const consent: NewEvent = { event: 'consent', pseudonym: kim.name, purpose: 'a study', level: 'local' };
const task = { ...doubling, hiddenInformation: 'Only of whole numbers.' };

/** Logs a dialogue of kim's with these replies. */
function replied(episode: string, ...events: readonly NewEvent[]): NewEvent[] {
  const last = events.filter(({ event }) => event === 'agent-turn').length + 1;
  return [
    started(episode, { collaborator: kim }),
    ...events,
    agentTurn(episode, last, 'OUTPUT: I WANT TO ANSWER: def double(n): return 2 * n'),
    answered(episode, last),
    graded(episode, 1),
  ];
}

const edited = (episode: string, turn: number, fields: object = {}): NewEvent => ({
  ...{ event: 'reply', episode, turn, text: 'Whole ones.', by: kim.name, ...fields },
  ...{ author: 'developer-edited-suggestion', suggestion: 'Whole numbers!', suggestedBy: simulator.name },
});

async function logOf(...events: readonly NewEvent[]): Promise<string> {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await log.recordTask(task);
  await log.appendAll(events);
  return folder;
}

async function rowsOf(log: string, rows: 'replies' | 'edits', selection: Partial<LogSelection> = {}) {
  const run = await temporaryFolder();
  const prompts = resolve('trainer/tandem_trainer/data/prompts');
  const { left_out } = await prepareData({ log, ...selection }, run, { prompts, rows });
  const file = join(run, 'data', `${rows === 'edits' ? 'preferences' : 'trajectories'}.jsonl`);
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  return { left_out, rows: lines.map((line) => JSON.parse(line) as Row) };
}

const saidIn = (rows: readonly Row[]): (string | undefined)[] =>
  rows.map(({ messages }) => messages.at(-1)?.content);

/** Asks a simulator for every reply of an episode. @returns the messages that its model reads */
async function readBySimulator(folder: string, episode: string): Promise<(readonly ChatMessage[])[]> {
  const read: (readonly ChatMessage[])[] = [];
  const model: Model = {
    name: 'recording',
    generate: (messages) => {
      read.push(messages);
      return Promise.resolve({ text: 'Yes.', finishReason: 'stop', timing: { totalMs: 1, attempts: 1 } });
    },
  };
  const asked = new ModelSimulator(model, await shippedPrompts());
  const log = await openLog(folder);
  const { turns, started } = (await log.trajectory(episode))!;
  for (const [index, { agent, reply: given }] of turns.entries()) {
    if (given === undefined) continue;
    const view = { task, protocol: started.protocol, seed: started.seed };
    await asked.reply({ ...view, turns: [...turns.slice(0, index), { agent }] });
  }
  return read;
}

describe('a row of the collaborator', () => {
  it('has the messages that a simulator reads in its place, and the reply', async () => {
    const thinking = 'It may be a fraction. OUTPUT: Of what?';
    const turns = [agentTurn('a', 1, thinking), reply('a', 1, kim), agentTurn('a', 2), reply('a', 2, kim)];
    const folder = await logOf(consent, ...replied('a', ...turns));
    const { rows } = await rowsOf(folder, 'replies');
    expect(rows.map(({ messages }) => messages.slice(0, -1))).toEqual(await readBySimulator(folder, 'a'));
    expect(rows).toMatchObject([
      {
        messages: [
          { role: 'user', content: expect.stringContaining('Only of whole numbers.') as string },
          { role: 'assistant', content: 'reply 1 of kim' },
        ],
        tandem: { role: 'collaborator', episode: 'a', turn: 1, reply_by: 'kim', reward: 1 },
      },
      { messages: [{}, { content: 'reply 2 of kim' }], tandem: { turn: 2 } },
    ]);
    expect(JSON.stringify(rows)).not.toContain('It may be a fraction.');
  });

  it('begins with the simulator.md that data.opening names', async () => {
    const folder = await logOf(consent, ...replied('a', agentTurn('a', 1), reply('a', 1, kim)));
    const opening = join(await temporaryFolder(), 'mine.md');
    await writeFile(opening, 'You know: {{hiddenInformation}}\n{{transcript}}');
    const { rows } = await rowsOf(folder, 'replies', { opening });
    expect(rows[0]!.messages[0]!.content).toBe('You know: Only of whole numbers.\nAssistant: question 1?');
    const value = { role: 'collaborator', model: { base: 'a/b' }, data: { log: folder, opening: 'short' } };
    const refusal = { code: 'training/bad-configuration' };
    await expect(parseConfiguration(value, { from: 'run.json', folder })).rejects.toMatchObject(refusal);
  });

  it('is of a person, or of the kind of collaborator that the filter names', async () => {
    const handed = replied('a', agentTurn('a', 1), reply('a', 1, kim), agentTurn('a', 2), reply('a', 2));
    const folder = await logOf(consent, ...handed, ...dialogue('b', 1));
    expect(saidIn((await rowsOf(folder, 'replies')).rows)).toEqual(['reply 1 of kim']);
    const { rows } = await rowsOf(folder, 'replies', { filter: { collaborator_kind: 'simulator' } });
    expect(saidIn(rows)).toEqual(['reply 1 of openai:simulator']);
    expect(rows[0]!.tandem.episode).toBe('b');
  });

  it('is none of a reply that leaked, or that the limit cut, or of a person without consent', async () => {
    const cut: NewEvent = {
      ...{ event: 'reply', episode: 'a', turn: 2, text: 'Only', author: 'developer', by: kim.name },
      fullText: 'Only whole ones.',
    };
    const ada = { kind: 'developer', name: 'ada' } as const;
    const folder = await logOf(
      consent,
      ...replied('a', agentTurn('a', 1), reply('a', 1, kim), agentTurn('a', 2), cut),
      ...replied('b', agentTurn('b', 1), reply('b', 1, kim), leak('b', 1, 0.9, true)),
      ...dialogue('c', 1, { collaborator: ada }),
    );
    const { rows, left_out } = await rowsOf(folder, 'replies', { with_leaked: true });
    expect(saidIn(rows)).toEqual(['reply 1 of kim']);
    expect(left_out).toEqual({ 'replies cut at the limit': 1, 'replies that leaked': 1, 'no consent': 1 });
  });

  it('prefers what a person made of a suggestion to the suggestion', async () => {
    const unchanged = edited('a', 2, { text: 'Whole numbers!' });
    const folder = await logOf(
      consent,
      ...replied('a', agentTurn('a', 1), edited('a', 1), agentTurn('a', 2), unchanged),
      ...dialogue('b', 1, { collaborator: kim }),
    );
    const { rows, left_out } = await rowsOf(folder, 'edits');
    const [first] = await readBySimulator(folder, 'a');
    expect(rows).toMatchObject([
      {
        prompt: first,
        chosen: [{ role: 'assistant', content: 'Whole ones.' }],
        rejected: [{ role: 'assistant', content: 'Whole numbers!' }],
        tandem: { role: 'collaborator', episode: 'a', turn: 1, task: doubling.id },
      },
    ]);
    expect([rows.length, left_out]).toEqual([1, { 'without an edited suggestion': 1 }]);
    const counted = await countData(
      await openLog(folder),
      { log: folder },
      { rows: 'edits', pairing: 'all' },
    );
    expect(counted).toMatchObject({ trajectories: 1, pairs: 1, turns: 1, leftOut: left_out });
  });
});
