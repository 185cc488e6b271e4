import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LogIndex } from '../../../../src/core/trajectory/index/logIndex';
import { sources } from '../../../../src/core/trajectory/index/filter';
import { page } from '../../../../src/core/trajectory/index/query';
import { IndexStore } from '../../../../src/core/trajectory/index/store';
import type { Collaborator, NewEvent } from '../../../../src/core/trajectory/event';
import type { TrajectoryFilter, TrajectoryLog } from '../../../../src/core/trajectory/log';
import {
  agentTurn,
  doubling,
  graded,
  kim,
  label,
  leak,
  openLog,
  play,
  reply,
  review,
  simulator,
  started,
  temporaryFolder,
} from '../../../fixtures/log';
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

/** Reads a log into an index; `plans` returns how SQLite finds what was asked of its episodes since the last call. */
async function explained(folder: string) {
  const store = IndexStore.inMemory();
  await new LogIndex(join(folder, 'log'), store).catchUp();
  const asked = new Set<string>();
  const all = store.all.bind(store);
  const get = store.get.bind(store);
  vi.spyOn(store, 'all').mockImplementation((sql, ...values) => (asked.add(sql), all(sql, ...values)));
  vi.spyOn(store, 'get').mockImplementation((sql, ...values) => (asked.add(sql), get(sql, ...values)));
  const plans = () => {
    const ofEpisodes = [...asked].filter((sql) => sql.includes('from episode where'));
    asked.clear();
    return ofEpisodes.map((sql) => {
      const plan = all<{ detail: string }>(`explain query plan ${sql}`).map(({ detail }) => detail);
      return { sql, plan };
    });
  };
  return { store, plans };
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

  it('takes the dialogues of who had the seat last, also after it was given to a simulator', async () => {
    const log = await filled();
    const handOver = (to: Collaborator): NewEvent => ({ event: 'hand-over', episode: 'open', turn: 1, to });
    await log.appendAll([handOver({ kind: 'developer', name: 'lee' }), handOver(simulator)]);
    expect(ids(log, { player: 'kim' })).toEqual(['human']);
    expect(ids(log, { player: 'lee' })).toEqual(['open']);
    expect(log.summary('open')).toMatchObject({ player: 'lee', collaborator: simulator });
    expect(log.summary('good')).not.toHaveProperty('player');
    expect(log.valuesOf('player').map(({ value }) => value)).toEqual(['kim', 'lee']);
  });

  it('takes what at least so many people rated', async () => {
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

  it('needs all of its fields to hold', async () => {
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

  it('of any filter is found, and counted, in the one index that is in the order of the list', async () => {
    const folder = await temporaryFolder();
    await play(await openLog(folder), 'e1', 1);
    const { store, plans } = await explained(folder);
    const filters: TrajectoryFilter[] = [
      {},
      { task: 'doubling', pack: 'a.jsonl', agent: 'a', collaborator: 'kim', collection: 'c' },
      { source: 'played', collaboratorKind: 'rules', state: 'open', mode: 'paper', success: true },
      { source: 'evaluation', outcome: 'not-graded', leaked: true, stars: 0, chosen: true, judged: false },
      { review: 'redo', tag: 'odd', player: 'kim', raters: 2 },
      { review: 'none', stars: 3, since: '2026-01-01', until: '2026-02-01' },
    ];
    for (const filter of filters) page(store, { filter, offset: 0, limit: 1 });
    for (const sort of ['newest', 'oldest'] as const) page(store, { sort, after: 'e1', offset: 0, limit: 0 });
    const found = plans();
    expect(found.length).toBeGreaterThan(filters.length);
    for (const { sql, plan } of found) {
      const isPage = sql.startsWith('select *');
      expect(plan[0]).toContain(`USING ${isPage ? '' : 'COVERING '}INDEX episode_listed`);
      expect(plan.join()).not.toContain('TEMP B-TREE');
    }
  });

  it('narrowed by a text looks for it once, and then for few dialogues one by one, for many in their order', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await log.recordTask(doubling);
    await log.appendAll(Array.from({ length: 300 }, (_, number) => started(`${number}-dialogue`)));
    const { store, plans } = await explained(folder);
    const ways = (text: string): string[] => {
      page(store, { filter: { text, outcome: 'open' }, offset: 0, limit: 1 });
      return plans().map(({ plan }) => plan.join());
    };
    expect(ways('openai')).toEqual([
      'SCAN episode USING COVERING INDEX episode_odd_id',
      'SEARCH episode USING COVERING INDEX episode_listed (started_at>?)',
      'SEARCH episode USING INDEX episode_listed (started_at>?)',
      'SEARCH episode USING COVERING INDEX episode_listed (started_at>?)',
    ]);
    expect(ways('openai')).toEqual(['SEARCH episode USING INDEX episode_listed (started_at>?)']);
    const [ids, ...then] = ways('29-dia');
    expect(ids).toBe('SCAN episode USING COVERING INDEX episode_odd_id');
    expect(then).toHaveLength(3);
    for (const way of then) expect(way).toContain('SEARCH episode USING INTEGER PRIMARY KEY');
  });

  it('that is not full tells how many there are', async () => {
    const log = await filled();
    const totalOf = (offset: number, limit: number): number => log.list({ offset, limit }).total;
    for (const [offset, limit] of [
      [0, 0],
      [0, 5],
      [0, 6],
      [0, 7],
      [4, 2],
      [4, 3],
      [6, 1],
      [9, 3],
    ] as const)
      expect(totalOf(offset, limit)).toBe(6);
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

describe('a text', () => {
  it('is found in ids, and in what the screen calls tasks, agents and collaborators', async () => {
    const log = await filled();
    expect(ids(log, { text: ' HUM' })).toEqual(['human']);
    expect(ids(log, { text: 'twice' })).toEqual([]);
    expect(ids(log, { text: 'twice', named: new Set(['other']) })).toEqual(['human']);
    expect(ids(log, { text: 'twice', named: new Set(['openai:other']) })).toEqual(['bad']);
    expect(ids(log, { named: new Set(['other']) })).toHaveLength(6);
  });

  it('is found in titles, tags, notes and the names of players', async () => {
    const log = await filled();
    await log.appendAll([
      label('good', 'kim', { title: 'A model reply', tags: ['for the paper'] }),
      label('bad', 'lee', { note: 'Rounded twice.\nSee the paper.' }),
      { event: 'hand-over', episode: 'open', turn: 1, to: { kind: 'developer', name: 'grace' } },
      { event: 'hand-over', episode: 'open', turn: 1, to: simulator },
    ]);
    expect(ids(log, { text: 'MODEL' })).toEqual(['good']);
    expect(ids(log, { text: 'paper' })).toEqual(['good', 'bad']);
    expect(ids(log, { text: 'rounded' })).toEqual(['bad']);
    expect(ids(log, { text: 'grace' })).toEqual(['open']);
    await log.append(label('bad', 'lee'));
    expect(ids(log, { text: 'paper' })).toEqual(['good']);
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

  it('counts by a column or the source what a filter for each value counts', async () => {
    const log = await openLog();
    const random = seeded(7);
    const one = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
    for (let number = 0; number < 60; number += 1) {
      const collection = one(undefined, 'c', 'evaluation-1');
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

  it('lists the values of a column with how often they come, the most frequent first', async () => {
    const log = await filled();
    expect(log.valuesOf('pack')).toEqual([
      { value: 'a.jsonl', count: 2 },
      { value: 'b.jsonl', count: 1 },
    ]);
    expect(log.valuesOf('agent', { outcome: 'failure' })).toEqual([{ value: 'openai:other', count: 1 }]);
    expect(log.valuesOf('collaborator').map(({ value }) => value)).toEqual(['openai:simulator', 'kim']);
  });

  it('names the values of a column without counting, in whatever column they came first', async () => {
    const log = await filled();
    await log.append(label('good', 'lee', { tags: ['lee'], note: 'openai:new' }));
    await play(log, 'new', 1, { agent: 'openai:new', collaborator: { kind: 'developer', name: 'good' } });
    expect(new Set(log.namesOf('agent'))).toEqual(new Set(['openai:agent', 'openai:other', 'openai:new']));
    expect(new Set(log.namesOf('collaborator'))).toEqual(new Set(['openai:simulator', 'kim', 'good']));
    expect(new Set(log.namesOf('task'))).toEqual(new Set(['doubling', 'other']));
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
