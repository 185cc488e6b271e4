import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { rendering } from '../../../src/core/dialogue/conversation';
import type { Dialogue } from '../../../src/core/dialogue/dialogue';
import { forkOf } from '../../../src/core/dialogue/fork';
import { countData } from '../../../src/core/training/data/countData';
import type { Parting } from '../../../src/core/trajectory/event';
import { exportTrajectories } from '../../../src/core/trajectory/export/export';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { developersOf } from '../../../src/core/trajectory/trajectory';
import { answers, asks, scripted, shippedPrompts } from '../../fixtures/dialogue';
import { dialoguesOfEachTest } from '../../fixtures/dialogues';
import { graded } from '../../fixtures/log';

const rules = { kind: 'rules', name: 'rules' } as const;
const byAda = { author: 'developer', by: 'ada' } as const;
const ada = { pseudonym: 'ada', purpose: 'research', level: 'export' } as const;

const dialogues = dialoguesOfEachTest();
const { start, logged } = dialogues;

/** Ada replies twice before the agent answers. */
async function parentOf(reward = 0, collection?: string): Promise<Dialogue> {
  const agent = await scripted(dialogues.folder, [asks('How heavy?'), asks('Which zone?'), answers('wrong')]);
  const dialogue = await start(agent, { id: 'parent', collection });
  for (const said of ['Over 20 kg.', 'Zone 2.']) {
    await dialogue.agentTurn();
    await dialogue.reply(said, { ...byAda, milliseconds: 3000 });
  }
  await dialogue.agentTurn();
  await dialogues.log.append(graded('parent', reward));
  return dialogue;
}

async function fork(id: string, of: Dialogue, at: Parting, says: string, reward?: number): Promise<Dialogue> {
  const agent = await scripted(
    dialogues.folder,
    ['-', '-', '-'].map(() => says),
  );
  const begun = forkOf(await logged(of), at, dialogues.log);
  const dialogue = await start(agent, { ...begun, id, collaborator: rules, seed: 6 });
  if (dialogue.next === 'collaborator') await dialogue.simulatorReply();
  await dialogue.agentTurn();
  if (reward !== undefined) await dialogues.log.append(graded(id, reward));
  return dialogue;
}

async function rowsIn(format: 'preferences' | 'chat' | 'replies', log = dialogues.log) {
  const file = path.join(dialogues.folder, `${format}.jsonl`);
  const prompts = await shippedPrompts();
  const result = await exportTrajectories(log, file, { format, ...rendering(format, prompts) });
  const text = await readFile(file, 'utf8');
  const rows = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
  return { ...result, rows };
}

interface Message {
  readonly role: string;
  readonly content: string;
}
interface Row {
  readonly prompt: readonly Message[];
  readonly chosen: readonly Message[];
  readonly rejected: readonly Message[];
  readonly tandem: { readonly episode: string; readonly chosen: { readonly episode: string } };
}

describe('a fork', () => {
  it('repeats what was said before it parts, and names its parent', async () => {
    const parent = await parentOf();
    const dialogue = await fork('fork', parent, { turn: 2, by: 'message' }, answers('right'));
    const { turns, started, answer } = await logged(dialogue);
    const [first] = (await logged(parent)).turns;
    expect(started.parent).toEqual({ id: 'parent', turn: 2, by: 'message', people: ['ada'] });
    expect(turns.map(({ agent }) => agent.text)).toEqual([asks('How heavy?'), answers('right')]);
    const { at: _, timing: __, ...said } = first!.agent;
    expect(turns[0]).toMatchObject({
      agent: { ...said, episode: 'fork' },
      reply: { text: 'Over 20 kg.', author: 'developer', by: 'ada' },
      leak: { leaked: false },
    });
    // The person took the time once.
    expect(turns[0]!.reply!.milliseconds).toBeUndefined();
    expect(answer?.turn).toBe(2);
    expect(dialogues.log.summary('fork')?.parent).toEqual({ id: 'parent', turn: 2, by: 'message' });
    expect(dialogues.log.forksOf('parent')).toEqual(['fork']);
  });

  it('keeps the agent’s message where it parts at the reply to it', async () => {
    const dialogue = await fork('fork', await parentOf(), { turn: 2, by: 'reply' }, answers('right'));
    const { turns } = await logged(dialogue);
    expect(turns.map(({ reply }) => reply?.by)).toEqual(['ada', 'rules', undefined]);
    expect(turns[1]!.agent.text).toBe(asks('Which zone?'));
  });

  it.each<Parting>([
    { turn: 3, by: 'reply' },
    { turn: 4, by: 'message' },
    { turn: 0, by: 'message' },
  ])('is refused where there is nothing to continue: $by $turn', async (at) => {
    const parent = await logged(await parentOf());
    expect(() => forkOf(parent, at, dialogues.log)).toThrow(/cannot be continued/);
  });

  it('of a fork has the fork as its parent, or the dialogue that first said the turn', async () => {
    const parent = await parentOf();
    const one = await fork('one', parent, { turn: 2, by: 'message' }, asks('And how far?'));
    await one.simulatorReply();
    const later = await fork('later', one, { turn: 3, by: 'message' }, answers('right'));
    const earlier = await fork('earlier', one, { turn: 1, by: 'reply' }, answers('right'));
    expect((await logged(later)).started.parent).toMatchObject({ id: 'one', turn: 3 });
    expect((await logged(earlier)).started.parent).toMatchObject({ id: 'parent', turn: 1, by: 'reply' });
    expect([...developersOf(await logged(later))]).toEqual(['ada']);
  });

  it('is no sample in statistics, and is found by another process', async () => {
    await fork('fork', await parentOf(1), { turn: 2, by: 'message' }, answers('right'), 1);
    expect(dialogues.log.outlines()).toHaveLength(1);
    const other = await TrajectoryLog.open(path.join(dialogues.folder, '.tandem'));
    expect([other.forksOf('parent'), other.outlines().length]).toEqual([['fork'], 1]);
    await other.close();
  });

  it('goes with the words of the people whom it repeats', async () => {
    await fork('fork', await parentOf(), { turn: 1, by: 'message' }, answers('right'));
    expect(await dialogues.log.eraseDeveloper('ada')).toMatchObject({ episodes: 2 });
    expect(dialogues.log.list({ offset: 0, limit: 10 }).rows).toEqual([]);
  });
});

describe('a fork and its parent', () => {
  it('are a pair of the turn where they part, and of no other dialogue', async () => {
    const parent = await parentOf(0);
    await fork('fork', parent, { turn: 2, by: 'message' }, answers('right'), 1);
    await dialogues.log.append({ event: 'consent', ...ada });
    const { rows } = await rowsIn('preferences');
    expect(rows).toHaveLength(1);
    const [row] = rows;
    expect(row!.prompt.at(-1)).toEqual({ role: 'user', content: 'Over 20 kg.' });
    expect(row!.chosen.map(({ content }) => content)).toEqual([answers('right')]);
    expect(row!.rejected[0]).toEqual({ role: 'assistant', content: asks('Which zone?') });
    expect(row!.tandem).toMatchObject({
      chosen: { episode: 'fork', parent: { episode: 'parent', turn: 2, by: 'message' } },
      rejected: { episode: 'parent' },
    });
    const selection = { log: dialogues.folder };
    expect(await countData(dialogues.log, selection, { pairing: 'paper' })).toMatchObject({
      ...{ pairs: 1, trajectories: 2, turns: 4 },
    });
  });

  it('are none where a reply differs, or the rewards are equal', async () => {
    const parent = await parentOf(0);
    await fork('equal', parent, { turn: 2, by: 'message' }, answers('wrong too'), 0);
    await fork('reply', parent, { turn: 1, by: 'reply' }, answers('right'), 1);
    await dialogues.log.append({ event: 'consent', ...ada });
    expect((await rowsIn('preferences')).rows).toEqual([]);
  });

  it('need the consent of the people of both', async () => {
    await fork('fork', await parentOf(0), { turn: 1, by: 'message' }, answers('right'), 1);
    await dialogues.log.append({ event: 'consent', ...ada, level: 'local' });
    const { rows, leftOut } = await rowsIn('preferences');
    expect([rows.length, leftOut]).toEqual([0, { 'local only': 2 }]);
  });

  it('have one row of messages to imitate, the better one, and each reply once', async () => {
    await fork('fork', await parentOf(0), { turn: 2, by: 'message' }, answers('right'), 1);
    await dialogues.log.append({ event: 'consent', ...ada });
    const { rows, leftOut } = await rowsIn('chat');
    expect(rows.map(({ tandem }) => tandem.episode)).toEqual(['fork']);
    expect(leftOut).toEqual({ 'sharing turns with a better or earlier dialogue': 1 });
    expect((await rowsIn('replies')).rows.map(({ tandem }) => tandem.episode)).toEqual(['parent', 'parent']);
  });

  it('stay out of training when the parent was played to evaluate', async () => {
    const parent = await parentOf(0, 'evaluation-1');
    await fork('fork', parent, { turn: 2, by: 'message' }, answers('right'), 1);
    await dialogues.log.append({ event: 'consent', ...ada });
    expect((await rowsIn('chat')).leftOut).toEqual({ 'played in an evaluation': 2 });
  });
});
