import { appendFile, cp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { summarize } from '../../../src/core/trajectory/fold';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { doubling, openLog, play, segmentFiles, takeSealsAway, temporaryFolder } from '../../fixtures/log';
import { anyEvents, seeded } from './random';

/** By id, because episodes that started in the same millisecond have no order of their own. */
function rows(log: TrajectoryLog): unknown {
  const { rows: found, total } = log.list({ offset: 0, limit: 1000 });
  return { rows: found.toSorted((a, b) => a.id.localeCompare(b.id)), total };
}

describe('the index', () => {
  it('says of every episode what folding all of its events says, whatever their order', async () => {
    const folder = await temporaryFolder();
    const random = seeded(11);
    const logs = await Promise.all([1, 2].map(() => openLog(folder, { segmentBytes: 20_000 })));
    const pending = Array.from({ length: 150 }, (_, number) => anyEvents(`e${number}`, random));
    await Promise.all(logs.map((log) => log.recordTask(doubling)));
    // Episodes are interleaved and change process in the middle, as when a window goes on with what another began.
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
        expect(collected?.damaged).toBe(whole ? whole.damaged !== undefined : undefined);
        if (whole) compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(200);
    expect(rows(reopened)).toEqual(rows(logs[0]!));
  });

  it('is the same read from its file, continued, or rebuilt', async () => {
    const folder = await temporaryFolder();
    const first = await openLog(folder);
    await play(first, 'e1', 1, { rollout: 0, collection: 'c', pack: 'p.jsonl' });
    await first.append({ event: 'consent', pseudonym: 'kim', purpose: 'research' }, { durable: true });
    await first.close();
    const second = await openLog(folder);
    expect(second.notes).toEqual([]);
    await play(second, 'e2', 0.5);
    await second.close();
    const continued = await openLog(folder);
    await rm(join(folder, 'index'), { recursive: true });
    const rebuilt = await openLog(folder);
    expect(rows(continued)).toEqual(rows(rebuilt));
    expect(rows(continued)).toMatchObject({ total: 2 });
    expect(continued.consents).toEqual(rebuilt.consents);
    expect(continued.consents).toMatchObject([{ pseudonym: 'kim', purpose: 'research' }]);
    expect(await continued.trajectory('e2')).toEqual(await rebuilt.trajectory('e2'));
  });

  it('is rebuilt with a note when its file is damaged', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    const file = join(folder, 'index', 'trajectories.index');
    const intact = await readFile(file);
    for (let position = 0; position < intact.length; position += 193) {
      const damaged = Buffer.from(intact);
      damaged[position]! ^= 0x10;
      await writeFile(file, damaged);
      const opened = await openLog(folder);
      expect(opened.notes[0]).toMatch(/^The index of the log was rebuilt: /);
      expect(rows(opened)).toEqual(rows(log));
    }
    await truncate(file, 10);
    expect((await openLog(folder)).list({ offset: 0, limit: 1 }).total).toBe(1);
  });

  it('is rebuilt, not misread, when it is of another format: by its number, or by its columns', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    const file = join(folder, 'index', 'trajectories.index');
    const intact = await readFile(file, 'latin1');
    expect(intact.slice(0, 8)).toBe('TNDMIDX7');
    const formats = [
      ...[1, 2, 3, 4, 5, 6, 8].map((number) => intact.replace('TNDMIDX7', `TNDMIDX${number}`)),
      // What another branch writes under the same number: other columns, or none said.
      intact.replace('"turns\\":\\"i32', '"other\\":\\"i32'),
      intact.replace('"turns\\":\\"i32', '"turns\\":\\"f64'),
      intact.replace('"layout"', '"tuoyal"'),
    ];
    expect(new Set([intact, ...formats]).size).toBe(1 + formats.length);
    for (const format of formats) {
      const bytes = Buffer.from(format, 'latin1');
      bytes.writeUInt32LE(crc32(bytes.subarray(16)), 8);
      await writeFile(file, bytes);
      const opened = await openLog(folder);
      expect(opened.notes).toEqual(['The index of the log was rebuilt: it was written by another version.']);
      expect(rows(opened)).toEqual(rows(log));
      await opened.close();
      expect((await openLog(folder)).notes).toEqual([]);
    }
  });

  it('is rebuilt with a note when the log under it is not the one it was made from', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'e1', 1);
    await log.close();
    await takeSealsAway(folder);
    await (await openLog(folder)).close();
    const [segment] = (await readdir(join(folder, 'log'))).filter((name) => name.endsWith('.jsonl'));
    const file = join(folder, 'log', segment!);
    const text = await readFile(file, 'utf8');

    await truncate(file, text.length - 10);
    expect((await openLog(folder)).notes).toEqual([
      `The index of the log was rebuilt: ${segment} is shorter than it was.`,
    ]);
    await writeFile(file, text.replace(/"segment":"[^"]*"/, '"segment":"another"'));
    await appendFile(file, text.split('\n')[2]!.replaceAll('e1', 'e2') + '\n');
    const rewritten = await openLog(folder);
    expect(rewritten.notes).toEqual([`The index of the log was rebuilt: ${segment} was rewritten.`]);
    expect(rewritten.list({ offset: 0, limit: 1 }).total).toBe(2);
    await rm(file);
    const gone = await openLog(folder);
    expect(gone.notes).toEqual([`The index of the log was rebuilt: ${segment} is gone.`]);
    expect(gone.list({ offset: 0, limit: 1 }).total).toBe(0);
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
