import { appendFile, cp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { summarize } from '../../../../src/core/trajectory/fold';
import { indexFileOf } from '../../../../src/core/trajectory/index/keptIndex';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { playerOf } from '../../../../src/core/trajectory/trajectory';
import {
  agentTurn,
  dialogue,
  doubling,
  graded,
  kim,
  label,
  openLog,
  play,
  reply,
  review,
  segmentFiles,
  started,
  temporaryFolder,
} from '../../../fixtures/log';
import { hasPipes, putPipe } from '../../../fixtures/oddFiles';
import { anyEvents, seeded } from '../random';

/** Sorts rows by id, because episodes that started in the same millisecond have no defined order. */
function rows(log: TrajectoryLog): unknown {
  const { rows: found, total } = log.list({ offset: 0, limit: 1000 });
  return { rows: found.toSorted((a, b) => a.id.localeCompare(b.id)), total };
}

async function remove(file: string): Promise<void> {
  for (const each of [file, `${file}-wal`, `${file}-shm`]) await rm(each, { force: true });
}

describe('the index', () => {
  it('says of every episode what folding all of its events says, whatever their order', async () => {
    const folder = await temporaryFolder();
    const random = seeded(11);
    const logs = await Promise.all([1, 2].map(() => openLog(folder, { segmentBytes: 20_000 })));
    const pending = Array.from({ length: 150 }, (_, number) => anyEvents(`e${number}`, random));
    await Promise.all(logs.map((log) => log.recordTask(doubling)));
    // Episodes are interleaved and change process in the middle, as when one window continues another's dialogue.
    while (pending.length > 0) {
      const chosen = Math.floor(random() * pending.length);
      const event = pending[chosen]!.shift();
      if (event) await logs[random() < 0.9 ? 0 : 1]!.append(event);
      else pending.splice(chosen, 1);
    }
    await logs[0]!.refresh();
    const reopened = await openLog(folder);
    let compared = 0;
    for (const log of [logs[0]!, reopened]) {
      for (let number = 0; number < 150; number += 1) {
        const whole = await log.trajectory(`e${number}`);
        expect(log.summary(`e${number}`)).toEqual(whole && summarize(whole));
        const [collected] = log.collected(`collection of e${number}`).values();
        const isCollected = whole !== undefined && playerOf(whole) === undefined;
        expect(collected?.damaged).toBe(isCollected ? whole.damaged !== undefined : undefined);
        if (whole) compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(200);
    expect(rows(reopened)).toEqual(rows(logs[0]!));
  });

  it('says it too of dialogues that go on thousands of lines after they had ended, or never end', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await log.recordTask(doubling);
    const ids = Array.from({ length: 400 }, (_, number) => `e${number}`);
    const early = new Set(ids.filter((_, number) => number % 4 === 0));
    const events = ids.flatMap((id) => dialogue(id, 1).slice(0, early.has(id) ? 6 : 7));
    const endless = [started('endless'), agentTurn('endless', 1)];
    await log.appendAll([...endless, ...events, reply('endless', 1)]);
    await log.appendAll([...early].map((id) => graded(id, 0)));
    await log.append({ event: 'rating', episode: 'e1', stars: 4, by: 'kim' });
    await log.append({ event: 'abandoned', episode: 'e2', reason: 'skipped', message: 'Too easy' });
    const live = rows(log);
    await log.close();
    await rm(join(folder, 'index'), { recursive: true });
    const cold = await openLog(folder);
    expect(rows(cold)).toEqual(live);
    expect(cold.count()).toMatchObject({ total: 401, graded: 399, successes: 299 });
    for (const id of ['endless', 'e0', 'e1', 'e2', 'e3', 'e396'])
      expect(cold.summary(id)).toEqual(summarize((await cold.trajectory(id))!));
  });

  it('is rebuilt with a note when its file is damaged', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    const listed = rows(await openLog(folder));
    const file = indexFileOf(folder);
    const intact = await readFile(file);
    const page = intact.readUInt16BE(16);
    for (let start = 0; start < intact.length; start += page) {
      const damaged = Buffer.from(intact);
      damaged.fill(0xa5, start, start + page);
      await remove(file);
      await writeFile(file, damaged);
      const opened = await openLog(folder);
      expect(opened.notes[0]).toMatch(/^The index of the log was rebuilt: it is damaged \(/);
      expect(rows(opened)).toEqual(listed);
      await opened.close();
    }
    await truncate(file, 10);
    const opened = await openLog(folder);
    expect(rows(opened)).toEqual(listed);
    await opened.close();
    expect((await openLog(folder)).notes).toEqual([]);
  });

  it.runIf(hasPipes).each(['', '-journal', '-wal', '-shm'])(
    'is rebuilt with a note when its file%s is a pipe',
    async (suffix) => {
      const folder = await temporaryFolder();
      const log = await openLog(folder);
      await play(log, 'e1', 1);
      await log.close();
      const file = indexFileOf(folder) + suffix;
      await putPipe(file);
      const opened = await openLog(folder);
      expect(opened.notes).toEqual([`The index of the log was rebuilt: ${file} is a pipe.`]);
      expect(rows(opened)).toMatchObject({ total: 1 });
    },
  );

  it('is rebuilt, not misread, when it is of another version or has other tables', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    const listed = rows(log);
    await log.close();
    for (const sql of [
      "update meta set value = '0.12345678' where name = 'version'",
      "delete from meta where name = 'version'",
    ]) {
      const database = new DatabaseSync(indexFileOf(folder));
      database.exec(sql);
      database.close();
      const opened = await openLog(folder);
      expect(opened.notes).toEqual(['The index of the log was rebuilt: it was written by another version.']);
      expect(rows(opened)).toEqual(listed);
      await opened.close();
    }
    expect((await openLog(folder)).notes).toEqual([]);
  });

  it('is of one machine, and goes with it: that of another is removed after a month without a write', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    const [near, idle, gone] = ['near', 'idle', 'gone'].map((host) => indexFileOf(folder, host));
    for (const file of [near!, idle!, `${idle}-wal`, gone!, `${gone}-wal`, `${gone}-shm`])
      await writeFile(file, '');
    const old = new Date(Date.now() - 31 * 24 * 3_600_000);
    for (const file of [idle!, gone!, `${gone}-wal`, indexFileOf(folder)]) await utimes(file, old, old);
    const opened = await openLog(folder);
    expect(opened.notes).toEqual([]);
    await opened.close();
    const left = [indexFileOf(folder), near!, idle!, `${idle}-wal`].map((file) => basename(file));
    expect((await readdir(join(folder, 'index'))).sort()).toEqual(left.sort());
  });

  it('is in memory where nothing can be written', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    const listed = rows(log);
    await log.close();
    await rm(join(folder, 'index'), { recursive: true });
    await writeFile(join(folder, 'index'), 'in the place of the folder');
    const opened = await openLog(folder);
    expect(opened.notes).toEqual([expect.stringContaining('so the index is in memory')]);
    expect(rows(opened)).toEqual(listed);
    await play(opened, 'e2', 1);
    expect(opened.count()).toMatchObject({ total: 2 });
    await opened.close();
    expect(await readFile(join(folder, 'index'), 'utf8')).toBe('in the place of the folder');
  });

  it('can be read with any tool for SQLite: a view tells each dialogue in words', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1, { rollout: 0, collection: 'c', pack: 'p.jsonl', collaborator: kim });
    await log.appendAll([
      label('e1', 'kim', { title: 'First', tags: ['b', 'a'] }),
      review('e1', 'lee', 'redo'),
    ]);
    await log.close();
    const database = new DatabaseSync(indexFileOf(folder), { readOnly: true });
    const { startedAt, agent, collaborator } = (await openLog(folder)).summary('e1')!;
    expect(database.prepare('select * from trajectory').all()).toMatchObject([
      {
        ...{
          id: 'e1',
          task: 'doubling',
          pack: 'p.jsonl',
          collection: 'c',
          rollout: 0,
          started_at: startedAt,
        },
        ...{ agent, collaborator: collaborator.name, state: 'answered', fixed: 'success', fixed_reward: 1 },
        ...{ player: 'kim', title: 'First', tags: 'a b', review: 'redo', raters: 0 },
      },
    ]);
    database.close();
  });

  it('is rebuilt with a note when the log under it was edited, whatever the edit left alone', async () => {
    for (const grown of [false, true]) {
      const folder = await temporaryFolder();
      const log = await openLog(folder);
      await play(log, 'e1', 1);
      await play(log, 'e2', 1);
      await log.close();
      const [file] = await segmentFiles(folder);
      const name = basename(file!);
      const { atime, mtime } = await stat(file!);
      const text = await readFile(file!, 'utf8');
      await writeFile(file!, text.replace('"reward":1', '"reward":0'));
      if (grown) await appendFile(file!, '{"version":1,');
      await utimes(file!, atime, mtime);
      const opened = await openLog(folder);
      expect(opened.notes).toEqual([`The index of the log was rebuilt: ${name} was edited.`]);
      expect(opened.problems[0]?.reason).toContain('The grade event was changed after it was written');
      expect(opened.count()).toMatchObject({ total: 2, graded: 1 });
    }
  });

  it('is not rebuilt when the log was only copied or touched', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    const copy = join(await temporaryFolder(), 'copy');
    await cp(folder, copy, { recursive: true });
    const [file] = await segmentFiles(folder);
    await utimes(file!, new Date(0), new Date(0));
    for (const each of [folder, copy]) {
      const opened = await openLog(each);
      expect(opened.notes).toEqual([]);
      expect(opened.count()).toMatchObject({ total: 1 });
    }
  });
});
