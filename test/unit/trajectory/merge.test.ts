import { cp, mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { openLog, play, segmentFiles, temporaryFolder } from '../../fixtures/log';
import { hasPipes, putPipe } from '../../fixtures/oddFiles';

const idsIn = (log: TrajectoryLog): string[] =>
  log
    .list({ offset: 0, limit: 99 })
    .rows.map(({ id }) => id)
    .sort();

describe('adding the log of another data folder', () => {
  it('brings its dialogues, whole, and adds nothing the second time', async () => {
    const [here, there] = [await temporaryFolder(), await temporaryFolder()];
    const [one, two] = [await openLog(here), await openLog(there)];
    await play(one, 'a1', 1);
    await play(two, 'b1', 1);
    await play(two, 'b2', 2);
    expect(await one.merge(there)).toEqual({
      ...{ imported: 2, deleted: 0, added: 1, grown: 0, alreadyThere: 0 },
      ...{ different: [], renamed: [], lowered: [], leftOut: {}, limitedTimes: 0 },
    });
    expect(idsIn(one)).toEqual(['a1', 'b1', 'b2']);
    expect(await one.trajectory('b2')).toEqual(await two.trajectory('b2'));
    expect(await one.merge(there)).toMatchObject({ imported: 0, added: 0, alreadyThere: 1 });
    // The other way round: each has then what both have.
    await one.close();
    expect(await two.merge(here)).toMatchObject({ imported: 1, added: 1, alreadyThere: 1 });
    expect(idsIn(two)).toEqual(['a1', 'b1', 'b2']);
    expect(two.problems).toEqual([]);
  });

  it('does not bring back what was erased or deleted here', async () => {
    const [here, there] = [await temporaryFolder(), await temporaryFolder()];
    const two = await openLog(there);
    const collaborator = { kind: 'developer', name: 'olga' } as const;
    await two.append({ event: 'consent', pseudonym: 'olga', purpose: 'research', level: 'local' });
    await play(two, 'b1', 1);
    await play(two, 'b2', 1, { collaborator });
    await two.close();
    const one = await openLog(here);
    await one.merge(there);
    await one.delete(['b1']);
    expect(await one.eraseDeveloper('olga')).toMatchObject({ episodes: 1 });
    const merged = await one.merge(there);
    expect(merged).toMatchObject({ imported: 0, added: 0, grown: 0, different: [] });
    expect(idsIn(one)).toEqual([]);
    const texts = (await readdir(join(here, 'log')))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => readFile(join(here, 'log', name), 'utf8'));
    expect((await Promise.all(texts)).join('')).not.toContain('olga');
  });

  it('follows what was deleted or restored there, of the dialogues that began there', async () => {
    const [here, there] = [await temporaryFolder(), await temporaryFolder()];
    const [one, two] = [await openLog(here), await openLog(there)];
    await play(one, 'a1', 1);
    await two.merge(here);
    for (const id of ['b1', 'b2', 'b3']) await play(two, id, 1);
    expect(await one.merge(there)).toMatchObject({ imported: 3, deleted: 0 });
    await two.delete(['a1', 'b1', 'b2']);
    expect(await one.merge(there)).toMatchObject({ imported: 0, deleted: 2, leftOut: { deleted: 1 } });
    expect(idsIn(one)).toEqual(['a1', 'b3']);
    await two.undelete(['b1']);
    expect(await one.merge(there)).toMatchObject({ imported: 1, deleted: 0 });
    expect(idsIn(one)).toEqual(['a1', 'b1', 'b3']);
  });

  it('says that a folder has no dialogues, or is this one', async () => {
    const [here, empty] = [await temporaryFolder(), await temporaryFolder()];
    const log = await openLog(here);
    await play(log, 'a1', 1);
    await expect(log.merge(empty)).rejects.toMatchObject({ code: 'trajectory/no-log' });
    await expect(log.merge(here)).rejects.toThrow(/is this log itself/);
    const copy = join(await temporaryFolder(), 'copy');
    await cp(here, copy, { recursive: true });
    expect(await log.merge(copy)).toMatchObject({ imported: 0, alreadyThere: 1 });
  });
});

describe.runIf(hasPipes)('a data folder from elsewhere', () => {
  it('gives nothing of what its links lead to', async () => {
    const [here, there, elsewhere] = [
      await temporaryFolder(),
      await temporaryFolder(),
      await temporaryFolder(),
    ];
    const [one, other] = [await openLog(here), await openLog(elsewhere)];
    await play(other, 'private', 1);
    const [segment] = await segmentFiles(elsewhere);
    await mkdir(join(there, 'log'));
    await symlink(segment!, join(there, 'log', basename(segment!)));
    await expect(one.merge(there)).rejects.toMatchObject({ code: 'file/not-regular' });
    await rm(join(there, 'log'), { recursive: true });
    await symlink(join(elsewhere, 'log'), join(there, 'log'));
    await expect(one.merge(there)).rejects.toMatchObject({ code: 'file/not-regular' });
    expect(idsIn(one)).toEqual([]);
  });

  it('is refused when a segment is a pipe', async () => {
    const there = await temporaryFolder();
    await mkdir(join(there, 'log'));
    await putPipe(join(there, 'log', '20260101T000000000Z-aaaaaaaa.jsonl'));
    await expect((await openLog()).merge(there)).rejects.toMatchObject({ code: 'file/not-regular' });
  });
});
