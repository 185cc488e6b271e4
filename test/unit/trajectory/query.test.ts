import { describe, expect, it } from 'vitest';
import type { TrajectoryFilter, TrajectoryLog } from '../../../src/core/trajectory/log';
import { agentTurn, doubling, graded, kim, leak, openLog, play, reply, started } from '../../fixtures/log';

const other = { ...doubling, id: 'other' };

/** One dialogue of each outcome, two packs, two agents, a leak, two ratings; each a moment after the one before. */
async function filled(): Promise<TrajectoryLog> {
  const log = await openLog();
  await play(log, 'good', 1, { pack: 'a.jsonl' });
  await play(log, 'bad', 0.5, { pack: 'a.jsonl', agent: 'openai:other' });
  await play(log, 'human', 1, { pack: 'b.jsonl', collaborator: kim }, other);
  await log.append({ event: 'rating', episode: 'good', stars: 2, by: 'kim' });
  await log.append({ event: 'rating', episode: 'human', stars: 4, by: 'kim' });
  await log.appendAll([started('leaky'), agentTurn('leaky', 1), leak('leaky', 1, 0.9, true)]);
  await log.append({ event: 'answered', episode: 'leaky', turn: 1, answer: 'code', reason: 'answered' });
  await log.appendAll([started('open'), agentTurn('open', 1)]);
  await log.append(started('skipped'));
  await log.append({ event: 'abandoned', episode: 'skipped', reason: 'skipped', message: 'Too easy' });
  return log;
}

const ids = (log: TrajectoryLog, filter: TrajectoryFilter): string[] =>
  log.list({ filter, sort: 'oldest', offset: 0, limit: 99 }).rows.map(({ id }) => id);

describe('a filter', () => {
  it('tells every dialogue by exactly one outcome', async () => {
    const log = await filled();
    expect(ids(log, { outcome: 'success' })).toEqual(['good', 'human']);
    expect(ids(log, { outcome: 'failure' })).toEqual(['bad']);
    expect(ids(log, { outcome: 'not-graded' })).toEqual(['leaky']);
    expect(ids(log, { outcome: 'open' })).toEqual(['open']);
    expect(ids(log, { outcome: 'abandoned' })).toEqual(['skipped']);
    expect(ids(log, { outcome: 'success', mode: 'paper' })).toEqual([]);
  });

  it('takes ratings from a number of stars on, or the dialogues without one', async () => {
    const log = await filled();
    expect(ids(log, { stars: 2 })).toEqual(['good', 'human']);
    expect(ids(log, { stars: 3 })).toEqual(['human']);
    expect(ids(log, { stars: 0 })).toEqual(['bad', 'leaky', 'open', 'skipped']);
  });

  it('takes what began within a time, its end left out', async () => {
    const log = await openLog();
    await play(log, 'first', 1);
    const since = new Date(Date.parse(log.summary('first')!.startedAt) + 1).toISOString();
    while (Date.now() <= Date.parse(since)) await new Promise((resolve) => setTimeout(resolve, 1));
    await play(log, 'second', 1);
    expect(ids(log, { since })).toEqual(['second']);
    expect(ids(log, { until: since })).toEqual(['first']);
    expect(ids(log, { since, until: since })).toEqual([]);
  });

  it('needs all of its fields to hold', async () => {
    const log = await filled();
    expect(ids(log, { pack: 'a.jsonl', agent: 'openai:agent' })).toEqual(['good']);
    expect(ids(log, { collaborator: 'kim', outcome: 'failure' })).toEqual([]);
    expect(ids(log, { leaked: true, stars: 0 })).toEqual(['leaky']);
  });
});

describe('the source of a dialogue', () => {
  it('is a person, a collection, or one that is an evaluation', async () => {
    const log = await filled();
    await play(log, 'played', 1, { collection: 'collection-1' });
    await play(log, 'measured', 1, { collection: 'evaluation-of-1' });
    expect(ids(log, { source: 'collected' })).toEqual(['played']);
    expect(ids(log, { source: 'evaluation' })).toEqual(['measured']);
    expect(ids(log, { source: 'played' })).toHaveLength(6);
    expect(ids(log, { source: 'played', outcome: 'success' })).toEqual(['good', 'human']);
  });
});

describe('a text', () => {
  it('is found in ids, and in what the screen calls tasks, agents and collaborators', async () => {
    const log = await filled();
    expect(ids(log, { text: ' HUM' })).toEqual(['human']);
    expect(ids(log, { text: 'twice' })).toEqual([]);
    expect(ids(log, { text: 'twice', named: new Set(['other']) })).toEqual(['human']);
    expect(ids(log, { text: 'twice', named: new Set(['openai:other']) })).toEqual(['bad']);
    expect(ids(log, { named: new Set(['other']) })).toHaveLength(6);
  });

  it('needs the title of each task once, which one of its dialogues tells', async () => {
    const log = await filled();
    expect([...log.oneOfEachTask()]).toEqual([
      ['doubling', 'skipped'],
      ['other', 'human'],
    ]);
  });
});

describe('counting', () => {
  it('averages success per task first', async () => {
    const log = await openLog();
    for (const [id, reward] of [
      ['a', 1],
      ['b', 0],
      ['c', 0],
    ] as const)
      await play(log, id, reward);
    await play(log, 'd', 1, {}, other);
    const { total, graded: known, successes, tasks, successRate } = log.count();
    expect({ total, known, successes, tasks }).toEqual({ total: 4, known: 4, successes: 2, tasks: 2 });
    expect(successRate).toBeCloseTo((1 / 3 + 1) / 2, 12);
  });

  it('has no rate while nothing is graded', async () => {
    const log = await openLog();
    await log.recordTask(doubling);
    await log.append(started('open'));
    expect(log.count()).toMatchObject({ total: 1, graded: 0, tasks: 0, successRate: null });
  });

  it('lists the values of a column with how often they come, the most frequent first', async () => {
    const log = await filled();
    expect(log.valuesOf('pack')).toEqual([
      { value: 'a.jsonl', count: 2 },
      { value: 'b.jsonl', count: 1 },
    ]);
    expect(log.valuesOf('agent', { outcome: 'failure' })).toEqual([{ value: 'openai:other', count: 1 }]);
    expect(log.valuesOf('collaborator').map(({ value }) => value)).toEqual(['openai:simulator', 'kim']);
  });
});

describe('the time of replies', () => {
  it('is that of a developer, and goes with a turn that is taken back', async () => {
    const log = await openLog();
    await log.recordTask(doubling);
    const timed = (turn: number, by = kim) => ({ ...reply('e1', turn, by), milliseconds: 1000 * turn });
    await log.appendAll([started('e1', { collaborator: kim }), agentTurn('e1', 1), timed(1)]);
    await log.appendAll([agentTurn('e1', 2), timed(2), agentTurn('e1', 3), reply('e1', 3)]);
    expect(log.summary('e1')?.replyTime).toEqual({ replies: 2, milliseconds: 3000 });
    await log.append(agentTurn('e1', 2));
    expect(log.summary('e1')?.replyTime).toEqual({ replies: 1, milliseconds: 1000 });
    await log.append(graded('e1', 1));
    expect(log.summary('e1')?.replyTime).toEqual({ replies: 1, milliseconds: 1000 });
  });
});
