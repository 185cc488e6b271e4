import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eraseDeveloper } from '../../../src/core/erasure/erase';
import { parseConfiguration } from '../../../src/core/training/configuration';
import { countData } from '../../../src/core/training/data/countData';
import { fillRun } from '../../../src/core/training/data/fillRun';
import { feedbackOfRun } from '../../../src/core/training/methods';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { chosen } from '../../fixtures/choices';
import { agentTurn, answered, doubling, kim, reply, started, verdict } from '../../fixtures/log';
import { graded, openLog, play, simulator, temporaryFolder } from '../../fixtures/log';

interface Row {
  readonly prompt: readonly object[];
  readonly completion?: readonly { readonly content: string }[];
  readonly tandem: { readonly signal: string; readonly turn: number };
}

const prompts = resolve('trainer/tandem_trainer/data/prompts');

/** An ungraded dialogue of a question and an answer, played by kim. */
const finished = (episode: string): NewEvent[] => [
  started(episode, { collaborator: kim }),
  { ...agentTurn(episode, 1), tokens: { ids: [5, 6] }, promptTokenIds: [1, 2] } as NewEvent,
  reply(episode, 1, kim),
  agentTurn(episode, 2, 'OUTPUT: I WANT TO ANSWER: code'),
  answered(episode, 2, 'code'),
];

const consent = (signals?: readonly string[]): NewEvent => ({
  ...{ event: 'consent', pseudonym: kim.name, purpose: 'a study', level: 'local', signals },
});

const thumb = (episode: string, turn: number, which: 'up' | 'down', by = kim.name): NewEvent => ({
  ...{ event: 'turn-rating', episode, turn, thumb: which, by },
});

const outcome = (fields: object): NewEvent =>
  ({ event: 'outcome', episode: 'a', by: kim.name, ...fields }) as NewEvent;

async function logOf(...events: readonly NewEvent[]): Promise<string> {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await log.recordTask(doubling);
  await log.appendAll(events);
  await log.close();
  return folder;
}

async function configured(log: string, method: string, more: object = {}, data: object = {}) {
  const written = { model: { base: 'owner/name' }, method, data: { log, ...data }, ...more };
  return parseConfiguration(written, { from: 'run.json', folder: log });
}

/** The rows of feedback that a run on the log trains on, and what its run.json and its report say. */
async function filled(log: string, method = 'multiturn-dpo', more: object = {}, data: object = {}) {
  const run = await temporaryFolder();
  const report = await fillRun(run, { configuration: await configured(log, method, more, data), prompts });
  const text = await readFile(join(run, 'data', 'feedback.jsonl'), 'utf8').catch(() => '');
  const rows = text.split('\n').filter(Boolean);
  const written = JSON.parse(await readFile(join(run, 'run.json'), 'utf8')) as { readonly data: object };
  return { report, data: written.data, rows: rows.map((row) => JSON.parse(row) as Row) };
}

describe('a run without graded dialogues', () => {
  it('learns from thumbs, verdicts and choices, with the history and the tokens of the turn', async () => {
    const folder = await logOf(consent(), ...finished('a'), thumb('a', 1, 'up'), thumb('a', 2, 'down'));
    const log = await openLog(folder);
    await log.append(verdict('a', 1, false));
    await chosen(log, 'b', [1], 'local');
    const { report, rows, data } = await filled(folder);
    expect(data).toEqual({ preferences: ['data/feedback.jsonl'] });
    expect(report).toMatchObject({ trajectories: 0, feedback: { thumbs: 2, verdicts: 1, choices: 1 } });
    const request = { role: 'user', content: expect.stringContaining('double(n)') as string };
    expect(rows).toMatchObject([
      {
        ...{ prompt: [request], label: true, completion: [{ content: 'OUTPUT: question 1?' }] },
        tandem: {
          ...{ signal: 'thumbs', task: doubling.id, episode: 'a', turn: 1 },
          completion: { token_ids: [5, 6], prompt_token_ids: [1, 2] },
        },
      },
      { label: false, tandem: { signal: 'verdicts', turn: 1 } },
      { prompt: [request, {}, {}], label: false, tandem: { signal: 'thumbs', turn: 2 } },
      {
        ...{ chosen: [{ content: 'OUTPUT: candidate 1 for 1?' }], rejected: [{ role: 'assistant' }] },
        tandem: { signal: 'choices', chosen: { model: 'openai:rival' } },
      },
    ]);
  });

  it('is refused where people left nothing, or the method needs dialogues', async () => {
    const nothing = await logOf(consent(), ...finished('a'));
    await expect(filled(nothing)).rejects.toMatchObject({ code: 'training/no-data' });
    const liked = await logOf(consent(), ...finished('a'), thumb('a', 1, 'up'));
    await expect(filled(liked, 'rft')).rejects.toMatchObject({ code: 'training/no-data' });
  });
});

describe('feedback beside graded dialogues', () => {
  it('is counted before the run as it is then written', async () => {
    const folder = await logOf(
      consent(),
      ...finished('a'),
      thumb('a', 1, 'up'),
      outcome({ outcome: 'accepted' }),
    );
    await play(await openLog(folder), 'graded', 1);
    const { report, data } = await filled(folder, 'rft');
    expect(data).toEqual({ trajectories: ['data/trajectories.jsonl'], preferences: ['data/feedback.jsonl'] });
    const { forTrainer, selection } = await configured(folder, 'rft');
    const feedback = feedbackOfRun(forTrainer);
    const counts = await countData(await openLog(folder), selection!, { pairing: 'all', feedback });
    expect(counts.feedback).toEqual({ thumbs: 1 });
    expect(report!.feedback).toEqual(counts.feedback);
    expect(report!.left_out).toMatchObject({ 'outcomes without a consent that names them': 1 });
    expect(counts.leftOut).toMatchObject({ 'outcomes without a consent that names them': 1 });
  });

  it('has only the signals with a weight, for a method that takes them', async () => {
    const weights = { feedback: { thumbs: 0, choices: 0.5 } };
    const of = async (method: string, more: object = {}) =>
      feedbackOfRun((await configured('/log', method, more, weights)).forTrainer);
    expect(await of('sweet-rl')).toEqual({
      ...{ format: 'feedback', isEnough: false, signals: ['choices', 'verdicts', 'outcomes'] },
    });
    expect(await of('multiturn-dpo')).toMatchObject({ isEnough: true });
    expect(await of('rft', { role: 'collaborator' })).toMatchObject({ format: 'edits', signals: ['edits'] });
    expect(await of('archer')).toBeUndefined();
    expect(await of('multiturn-dpo', { role: 'collaborator' })).toBeUndefined();
  });
});

describe('an outcome', () => {
  it.each([
    [{ outcome: 'accepted' }, 1],
    [{ outcome: 'edited', survived: 0.25 }, 0.25],
    [{ outcome: 'rejected' }, 0],
  ])('of %j is worth %d on each turn, with the questions from there on', async (fields, reward) => {
    const folder = await logOf(consent(['outcomes']), ...finished('a'), outcome(fields));
    const { rows } = await filled(folder);
    expect(rows).toMatchObject([
      { reward, tandem: { signal: 'outcomes', turn: 1, questions: 1 } },
      { reward, tandem: { signal: 'outcomes', turn: 2, questions: 0 } },
    ]);
  });
});

describe('the consent', () => {
  const said = [...finished('a'), outcome({ outcome: 'accepted' }), thumb('a', 1, 'up')];
  const signalsOf = async (...consents: NewEvent[]) =>
    (await filled(await logOf(...consents, ...said))).report!.feedback;

  it('covers thumbs as before, and outcomes only if the latest one names them', async () => {
    expect(await signalsOf(consent())).toEqual({ thumbs: 1 });
    expect(await signalsOf(consent(['edits']))).toEqual({ thumbs: 1 });
    expect(await signalsOf(consent(), consent(['outcomes']))).toEqual({ thumbs: 1, outcomes: 2 });
    expect(await signalsOf(consent(['outcomes']), consent([]))).toEqual({ thumbs: 1 });
  });

  it('of the person who gave a thumb is needed', async () => {
    const folder = await logOf(consent(), ...finished('a'), thumb('a', 1, 'up', 'lee'), thumb('a', 2, 'up'));
    expect((await filled(folder)).report!.feedback).toEqual({ thumbs: 1 });
  });

  it('covers edited suggestions of the collaborator only if it names them', async () => {
    const edited: NewEvent[] = [
      started('a', { collaborator: kim }),
      agentTurn('a', 1),
      {
        ...{ event: 'reply', episode: 'a', turn: 1, text: 'Whole ones.', by: kim.name },
        ...{ author: 'developer-edited-suggestion', suggestion: 'Numbers.', suggestedBy: simulator.name },
      },
      agentTurn('a', 2, 'OUTPUT: I WANT TO ANSWER: code'),
      answered('a', 2, 'code'),
      graded('a', 1),
    ];
    const role = { role: 'collaborator' };
    const before = await filled(await logOf(consent(), ...edited), 'rft', role);
    expect(before.report).toMatchObject({ left_out: { 'edits without a consent that names them': 1 } });
    expect(before.rows).toEqual([]);
    const { rows } = await filled(await logOf(consent(['edits']), ...edited), 'rft', role);
    expect(rows).toMatchObject([
      {
        ...{ chosen: [{ content: 'Whole ones.' }], rejected: [{ content: 'Numbers.' }] },
        tandem: { signal: 'edits', role: 'collaborator' },
      },
    ]);
  });
});

it('what an erased person said is in no run', async () => {
  const lee: NewEvent = { event: 'consent', pseudonym: 'lee', purpose: 'a study', level: 'local' };
  const folder = await logOf(
    consent(),
    lee,
    ...finished('a'),
    thumb('a', 1, 'up', 'lee'),
    thumb('a', 2, 'up'),
  );
  expect((await filled(folder)).report!.feedback).toEqual({ thumbs: 2 });
  const log = await openLog(folder);
  await eraseDeveloper(log, folder, 'lee');
  await log.close();
  const { rows } = await filled(folder);
  expect(rows.map(({ tandem }) => tandem.turn)).toEqual([2]);
});
