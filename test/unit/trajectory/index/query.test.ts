import { afterEach, describe, expect, it, vi } from 'vitest';
import { sources } from '../../../../src/core/trajectory/index/filter';
import type { TrajectoryFilter, TrajectoryLog } from '../../../../src/core/trajectory/log';
import type { Collaborator, NewEvent } from '../../../../src/core/trajectory/event';
import {
  agentTurn,
  doubling,
  kim,
  label,
  leak,
  openLog,
  play,
  review,
  simulator,
  started,
} from '../../../fixtures/log';
import { playPage } from '../../../fixtures/pageDialogue';
import { seeded } from '../random';

const other = { ...doubling, id: 'other' };

/** Logs one dialogue of each outcome, with two packs, two agents, a leak and two ratings, at successive times. */
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
    await log.append({ event: 'rating', episode: 'human', comment: 'No stars of mine.', by: 'lee' });
    expect(ids(log, { stars: 4 })).toEqual(['human']);
    expect(ids(log, { stars: 0 })).toEqual(['bad', 'leaky', 'open', 'skipped']);
  });

  it('takes what was accepted, is to be played again, or has no review', async () => {
    const log = await filled();
    await log.appendAll([
      review('good', 'lee', 'accepted'),
      review('bad', 'lee', 'redo', 'The rules leaked.'),
    ]);
    expect(ids(log, { review: 'accepted' })).toEqual(['good']);
    expect(ids(log, { review: 'redo' })).toEqual(['bad']);
    await log.append(review('bad', 'ada'));
    expect(ids(log, { review: 'redo' })).toEqual([]);
    expect(ids(log, { review: 'none' })).toEqual(['bad', 'human', 'leaky', 'open', 'skipped']);
  });

  it('takes a whole tag of any person', async () => {
    const log = await filled();
    await log.appendAll([
      label('good', 'kim', { tags: ['off by one', 'short'] }),
      label('good', 'lee', { tags: ['short', 'one'] }),
      label('bad', 'kim', { tags: ['one'] }),
    ]);
    expect(ids(log, { tag: 'one' })).toEqual(['good', 'bad']);
    expect(ids(log, { tag: 'off by one' })).toEqual(['good']);
    expect(ids(log, { tag: 'off' })).toEqual([]);
    expect(log.valuesOf('tags')).toEqual([
      { value: 'one', count: 2 },
      { value: 'off by one', count: 1 },
      { value: 'short', count: 1 },
    ]);
    await log.append(label('good', 'lee'));
    expect(ids(log, { tag: 'one' })).toEqual(['bad']);
  });

  it('finds dialogues by start time, excluding the end', async () => {
    const log = await openLog();
    await play(log, 'first', 1);
    const since = new Date(Date.parse(log.summary('first')!.startedAt) + 1).toISOString();
    while (Date.now() <= Date.parse(since)) await new Promise((resolve) => setTimeout(resolve, 1));
    await play(log, 'second', 1);
    expect(ids(log, { since })).toEqual(['second']);
    expect(ids(log, { until: since })).toEqual(['first']);
    expect(ids(log, { since, until: since })).toEqual([]);
  });

  it('finds dialogues by their last person, even after a simulator took over', async () => {
    const log = await filled();
    const handOver = (to: Collaborator): NewEvent => ({ event: 'hand-over', episode: 'open', turn: 1, to });
    await log.appendAll([handOver({ kind: 'developer', name: 'lee' }), handOver(simulator)]);
    expect(ids(log, { player: 'kim' })).toEqual(['human']);
    expect(ids(log, { player: 'lee' })).toEqual(['open']);
    expect(log.summary('open')).toMatchObject({ player: 'lee', collaborator: simulator });
    expect(log.summary('good')?.player).toBeUndefined();
    expect(log.valuesOf('player').map(({ value }) => value)).toEqual(['kim', 'lee']);
  });

  it('finds dialogues with at least this many raters', async () => {
    const log = await filled();
    await log.append({ event: 'rating', episode: 'good', stars: 5, by: 'lee' });
    await log.append({ event: 'turn-rating', episode: 'bad', turn: 1, thumb: 'up', by: 'lee' });
    await log.append({ event: 'rating', episode: 'bad', comment: 'No stars.', by: 'kim' });
    expect(ids(log, { raters: 2 })).toEqual(['good']);
    expect(ids(log, { raters: 1 })).toEqual(['good', 'bad', 'human']);
    await log.append({ event: 'rating', episode: 'good', by: 'kim' });
    expect(ids(log, { raters: 2 })).toEqual([]);
    expect(log.summary('good')).toMatchObject({ raters: 1, stars: 5 });
  });

  it('matches dialogues that meet all of its fields', async () => {
    const log = await filled();
    expect(ids(log, { pack: 'a.jsonl', agent: 'openai:agent' })).toEqual(['good']);
    expect(ids(log, { collaborator: 'kim', outcome: 'failure' })).toEqual([]);
    expect(ids(log, { leaked: true, stars: 0 })).toEqual(['leaky']);
  });
});

describe('a page', () => {
  it('begins behind a dialogue, which need not match the filter, and is empty where there is no such one', async () => {
    const log = await filled();
    const after = (id: string, filter: TrajectoryFilter = {}): string[] =>
      log.list({ filter, after: id, offset: 0, limit: 9 }).rows.map((row) => row.id);
    expect(after('leaky')).toEqual(['human', 'bad', 'good']);
    expect(after('leaky', { outcome: 'success' })).toEqual(['human', 'good']);
    expect(after('leaky', { id: 'bad' })).toEqual(['bad']);
    expect(after('leaky', { id: 'open' })).toEqual([]);
    expect(after('good')).toEqual([]);
    expect(after('nobody')).toEqual([]);
    expect(log.list({ after: 'leaky', offset: 0, limit: 1 }).total).toBe(3);
  });
});

describe('dialogues that began in the same millisecond', () => {
  afterEach(() => vi.useRealTimers());

  it('come in the order of the log, in every list', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') });
    const log = await openLog();
    const played = ['d', 'a', 'c', 'e', 'b'];
    for (const id of played) await play(log, id, 1, { collection: 'again' });
    const starts = new Set(log.list({ offset: 0, limit: 9 }).rows.map(({ startedAt }) => startedAt));
    expect(starts.size).toBe(1);
    expect(ids(log, {})).toEqual(played);
    expect(log.list({ offset: 0, limit: 9 }).rows.map(({ id }) => id)).toEqual(played.toReversed());
    const pages = [0, 1, 2, 3, 4].flatMap((offset) => log.list({ offset, limit: 1 }).rows);
    expect(pages.map(({ id }) => id)).toEqual(played.toReversed());
    const after = (id: string, sort: 'newest' | 'oldest'): string[] =>
      log.list({ sort, after: id, offset: 0, limit: 9 }).rows.map((row) => row.id);
    expect(after('c', 'newest')).toEqual(['a', 'd']);
    expect(after('c', 'oldest')).toEqual(['e', 'b']);
    expect([...log.oneOfEachTask().values()]).toEqual(['b']);
    expect([...log.collected('again').values()].map(({ episode }) => episode)).toEqual(['b']);
    await log.delete(['c', 'e', 'a']);
    expect(log.deleted.map(({ id }) => id)).toEqual(['e', 'c', 'a']);
    expect([...log.oneOfEachTask().values()]).toEqual(['b']);
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

  it('counts by a column or the source what a filter for each value counts', async () => {
    const log = await openLog();
    const random = seeded(7);
    const one = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
    for (let number = 0; number < 60; number += 1) {
      const collection = one(undefined, 'c', 'evaluation-1', 'from elsewhere: codex');
      const collaborator = one(kim, { kind: 'rules', name: 'rules' } as const);
      const start = { agent: one('x', 'y', 'z'), collaborator, ...(collection && { collection }) };
      await play(log, `e${number}`, one(0, 0.5, 1), start, one(doubling, other));
    }
    for (const filter of [{}, { success: true }, { stars: 5 }] as const) {
      for (const by of ['source', 'task', 'agent', 'collaborator'] as const) {
        const { all, each } = log.countBy(by, filter);
        expect(all).toEqual(log.count(filter));
        const values = by === 'source' ? sources : log.valuesOf(by, filter).map(({ value }) => value);
        const counts = values.map((value) => [value, log.count({ ...filter, [by]: value })] as const);
        expect([...each]).toEqual(counts.filter(([, { total }]) => total > 0));
      }
    }
    expect([...log.countBy('source', {}).each.keys()]).toEqual([...sources]);
  });
});

it('outlines a graded page by its score and what measured it', async () => {
  const log = await openLog();
  await playPage(log, 'e');
  expect(log.outlines()).toMatchObject([
    {
      success: null,
      page: {
        ...{ mode: 'fixed', measure: 'structure', version: 1 },
        ...{ renderer: 'Chrome/1 linux abcdef', score: 1 },
      },
    },
  ]);
  expect(log.outlines({ mode: 'paper' })[0]).not.toHaveProperty('page');
});
