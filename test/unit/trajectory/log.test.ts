import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../../src/core/fault';
import {
  agentTurn,
  dialogue,
  doubling,
  graded,
  kim,
  openLog,
  play,
  reply,
  started,
  takeSealsAway,
  temporaryFolder,
} from '../../fixtures/log';
import { goOnWithZeros, hasPipes, putDevice, putPipe } from '../../fixtures/oddFiles';

async function segments(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 'log'));
  return names.filter((name) => name.endsWith('.jsonl')).sort();
}

async function linesOf(folder: string): Promise<Record<string, unknown>[]> {
  const files = await segments(folder);
  const texts = await Promise.all(files.map((name) => readFile(join(folder, 'log', name), 'utf8')));
  return texts.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  );
}

describe('appending', () => {
  it('gives an episode back, in the same log and after opening it again', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 0.5);
    const here = await log.trajectory('e1');
    await log.close();
    const there = await (await openLog(folder)).trajectory('e1');
    expect(there).toEqual(here);
    expect(there).toMatchObject({ id: 'e1', state: 'answered', task: doubling });
    expect(there?.turns.map(({ reply }) => reply?.text)).toEqual(['reply 1 of openai:simulator', undefined]);
  });

  it('writes a task once per segment, before the first episode that plays it', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder, { segmentBytes: 8_000 });
    for (let number = 0; number < 12; number += 1) await play(log, `e${number}`, 1);
    for (const name of await segments(folder)) {
      const text = await readFile(join(folder, 'log', name), 'utf8');
      const kinds = text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { event: string }).event);
      expect(kinds[0]).toBe('segment');
      expect(kinds.filter((kind) => kind === 'task')).toHaveLength(1);
      expect(kinds.indexOf('task')).toBeLessThan(kinds.indexOf('episode-started'));
    }
    expect((await segments(folder)).length).toBeGreaterThan(1);
  });

  it('refuses an episode of a task that was not recorded', async () => {
    const log = await openLog();
    await expect(log.append(started('e1'))).rejects.toThrow(
      new Fault(
        'trajectory/task-not-recorded',
        'Episode e1 plays task doubling, which was not recorded before.',
      ),
    );
  });

  it('keeps the order of appends that were made at once, and tears no line', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await log.recordTask(doubling);
    await log.append(started('e1'));
    const turns = Array.from({ length: 300 }, (_, index) => index + 1);
    const text = (turn: number): string => `${turn} `.repeat(turn * 10);
    await Promise.all(
      turns.map((turn) => log.append(agentTurn('e1', turn, text(turn)), { durable: turn % 3 === 0 })),
    );
    const logged = (await linesOf(folder)).filter(({ event }) => event === 'agent-turn');
    expect(logged.map(({ turn }) => turn)).toEqual(turns);
    expect(logged.map(({ text }) => text)).toEqual(turns.map(text));
  });

  it('says so when it is used after it was closed', async () => {
    const log = await openLog(await temporaryFolder());
    await play(log, 'e1', 1);
    const reading = log.trajectories(['e1', 'e1']);
    await reading.next();
    await log.close();
    await log.close();
    const closed = 'The log is closed';
    for (const ask of [() => log.list({ offset: 0, limit: 1 }), () => log.summary('e1'), () => log.deleted])
      expect(ask).toThrow(closed);
    for (const work of [
      log.append(agentTurn('e1', 1)),
      log.trajectory('e1'),
      log.search('one').next(),
      reading.next(),
    ])
      await expect(work).rejects.toThrow(closed);
  });

  it('says where it looked when the data folder cannot be read', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'log'), 'a file where the folder should be');
    await expect(openLog(folder)).rejects.toThrow(
      /^The log in .*log cannot be read: ENOTDIR.* Check the data folder/,
    );
  });
});

describe('several processes', () => {
  it('never share a segment, and see what the other appended after a refresh', async () => {
    const folder = await temporaryFolder();
    const one = await openLog(folder);
    const two = await openLog(folder);
    const changes: (readonly string[])[] = [];
    two.onDidChange((episodes) => changes.push(episodes));
    await play(one, 'e1', 1);
    await play(two, 'e2', 0);
    expect(await segments(folder)).toHaveLength(2);
    await two.refresh();
    expect(two.list({ sort: 'oldest', offset: 0, limit: 10 }).rows.map(({ id }) => id)).toEqual(['e1', 'e2']);
    expect(await two.trajectory('e1')).toEqual(await one.trajectory('e1'));
    expect(changes.flat().sort()).toEqual(['e1', 'e2']);
  });
});

describe('lines that are not whole or not known', () => {
  it('reports a torn last line of a process that died, and the next one goes on in a new segment', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    const [segment] = await segments(folder);
    await appendFile(join(folder, 'log', segment!), '{"version":1,"event":"reply","epis');
    const after = await openLog(folder);
    expect(after.problems).toEqual([
      {
        file: segment,
        line: 10,
        reason:
          'The last line is torn after 34 bytes: its process died, or its disk failed. It is passed over.',
      },
    ]);
    await play(after, 'e2', 1);
    expect(after.list({ offset: 0, limit: 10 }).total).toBe(2);
    expect(await readFile(join(folder, 'log', segment!), 'utf8')).toMatch(/"epis$/);
  });

  it('does not call a line torn that a living process is still writing', async () => {
    const folder = await temporaryFolder();
    const writer = await openLog(folder);
    await play(writer, 'e1', 1);
    const [segment] = await segments(folder);
    await appendFile(join(folder, 'log', segment!), '{"version":1,');
    expect((await openLog(folder)).problems).toEqual([]);
  });

  it('reads on when the rest of an unfinished line arrives', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    await takeSealsAway(folder);
    const file = join(folder, 'log', (await segments(folder))[0]!);
    const deleted = '{"version":1,"event":"deleted","episode":"e1","at":"2026-01-01T00:00:00.000Z"}\n';
    await appendFile(file, deleted.slice(0, 30));
    const reader = await openLog(folder);
    expect(reader.problems).toHaveLength(1);
    await appendFile(file, deleted.slice(30));
    await reader.refresh();
    expect(reader.problems).toEqual([]);
    expect(reader.list({ offset: 0, limit: 10 }).total).toBe(0);
  });

  it('reports lines that cannot be read with file, line and reason, and reads the others', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    await takeSealsAway(folder);
    const file = (await segments(folder))[0]!;
    const lines = [
      '{"broken":',
      '{"version":1,"event":"leak","episode":"e1","at":"2026-01-01T00:00:00Z","turn":"one"}',
      '"a string"',
    ];
    await appendFile(join(folder, 'log', file), `${lines.join('\n')}\n`);
    const { problems } = await openLog(folder);
    expect(problems.map(({ line, reason }) => [line, reason])).toEqual([
      [10, 'The line is not JSON and is passed over.'],
      [11, expect.stringContaining('The leak event is passed over: turn')],
      [12, 'The line is not an event of the log and is passed over.'],
    ]);
  });

  it('passes over kinds and versions that it does not know, and says so', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    await takeSealsAway(folder);
    const file = join(folder, 'log', (await segments(folder))[0]!);
    const at = '2030-01-01T00:00:00.000Z';
    await appendFile(file, `${JSON.stringify({ version: 1, event: 'applause', episode: 'e1', at })}\n`);
    await appendFile(file, `${JSON.stringify({ version: 2, event: 'deleted', episode: 'e1', at })}\n`);
    const later = await openLog(folder);
    expect(later.problems).toEqual([]);
    expect(later.notes).toEqual(['2 lines were written by a newer Tandem; they are kept and passed over.']);
    expect(await later.trajectory('e1')).toMatchObject({ state: 'answered' });
  });

  it('reads events that others wrote in another order of keys, with ids beyond ASCII', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'log'));
    const task = { ...doubling, id: 'größe "x"' };
    const at = '2026-01-01T10:00:00+02:00';
    const events = [{ event: 'task', task }, ...dialogue('épisode', 1, { task: task.id })];
    const text = events.map((event) =>
      JSON.stringify({ ...event, at, version: 1 }, null, 1).replaceAll('\n', ' '),
    );
    await writeFile(join(folder, 'log', 'foreign.jsonl'), `${text.join('\r\n')}\r\n`);
    const log = await openLog(folder);
    expect(log.problems).toEqual([]);
    expect(log.list({ offset: 0, limit: 1 }).rows).toMatchObject([
      { id: 'épisode', taskId: task.id, startedAt: '2026-01-01T08:00:00.000Z', state: 'answered' },
    ]);
    expect((await log.trajectory('épisode'))?.task).toEqual(task);
  });
});

describe('lists', () => {
  it('filter and count by what the index knows, and tell what a collection has', async () => {
    const log = await openLog();
    await play(log, 'good', 1, { pack: 'a.jsonl', collection: 'c', rollout: 0 });
    await play(log, 'bad', 0.5, { pack: 'b.jsonl', collaborator: kim });
    await log.appendAll([started('open', { agent: 'openai:other', collection: 'c', rollout: 1 })]);
    const ids = (filter: object): string[] =>
      log.list({ filter, sort: 'oldest', offset: 0, limit: 9 }).rows.map(({ id }) => id);
    expect(ids({ pack: 'a.jsonl', success: true })).toEqual(['good']);
    expect(ids({ agent: 'openai:other', state: 'open' })).toEqual(['open']);
    expect(ids({ collaboratorKind: 'simulator' })).toEqual(['good', 'open']);
    expect(log.count()).toMatchObject({ total: 3, graded: 2, successes: 1, leaked: 0 });
    const good = { episode: 'good', state: 'answered', graded: true, gradedModes: ['fixed'], damaged: false };
    const open = { episode: 'open', state: 'open', graded: false, gradedModes: [], damaged: false };
    expect([...log.collected('c')]).toEqual([
      ['doubling#0', good],
      ['doubling#1', open],
    ]);
    await log.append(graded('good', 1, 'paper'));
    expect(log.collected('c').get('doubling#0')).toMatchObject({ gradedModes: ['fixed', 'paper'] });
    await log.append(reply('open', 1));
    expect(log.collected('c').get('doubling#1')).toMatchObject({ damaged: true });
  });

  it('show again what was undeleted, as it was, in whichever segment and process that was said', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await play(log, 'e2', 1);
    const before = log.summary('e1');
    const other = await openLog(folder);
    await other.delete(['e1', 'e2']);
    await log.refresh();
    expect(log.list({ offset: 0, limit: 9 }).total).toBe(0);
    await log.undelete(['e1']);
    for (const each of [log, await openLog(folder)]) {
      expect(each.summary('e1')).toEqual(before);
      expect((await each.trajectory('e1'))?.turns).toHaveLength(2);
      expect(each.deleted.map(({ id }) => id)).toEqual(['e2']);
    }
    await expect(log.undelete(['e2', 'e1'])).rejects.toThrow('There is no dialogue e1');
    expect(log.isDeleted('e2')).toBe(true);
  });
});

describe('a data folder from elsewhere', () => {
  const SEGMENT = '20260101T000000000Z-aaaaaaaa.jsonl';

  it('is not opened when a line of its log does not end', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'log'));
    await goOnWithZeros(join(folder, 'log', SEGMENT));
    await expect(openLog(folder)).rejects.toMatchObject({ code: 'file/too-large' });
  });

  it.runIf(hasPipes)('is not opened when a segment is a pipe or a device', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'log', SEGMENT);
    await mkdir(join(folder, 'log'));
    for (const put of [putPipe, putDevice]) {
      await put(file);
      await expect(openLog(folder)).rejects.toMatchObject({ code: 'file/not-regular' });
    }
  });
});

it('an abort ends the opening, and nothing after it', async () => {
  const folder = await temporaryFolder();
  const stopping = new AbortController();
  const log = await openLog(folder, { signal: stopping.signal });
  stopping.abort();
  await play(log, 'e1', 1);
  expect(log.summary('e1')).toBeDefined();
  await log.close();
  await rm(join(folder, 'index'), { recursive: true });
  await expect(openLog(folder, { signal: stopping.signal })).rejects.toThrow('aborted');
});
