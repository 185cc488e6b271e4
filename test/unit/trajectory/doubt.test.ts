import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLog, repairLog } from '../../../src/core/trajectory/check';
import type { ConsentLevel, NewEvent } from '../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import {
  dialogue,
  doubling,
  kim,
  openLog,
  segmentFiles,
  takeSealsAway,
  temporaryFolder,
} from '../../fixtures/log';
import { exported } from './exported';
import { seeded } from './random';

const deleted = (episode: string): NewEvent => ({ event: 'deleted', episode });
const undeleted = (episode: string): NewEvent => ({ event: 'undeleted', episode });
const consent = (level: ConsentLevel): NewEvent => ({
  event: 'consent',
  ...{ pseudonym: 'kim', purpose: 'research', level },
});

/** Writes each list as a segment of a data folder; returns the folder and its segment files. */
async function written(...segments: NewEvent[][]): Promise<{ folder: string; files: string[] }> {
  const folder = join(await temporaryFolder(), '.tandem');
  for (const events of segments) {
    const log = await openLog(folder);
    await log.recordTask(doubling);
    await log.appendAll(events);
    await log.close();
  }
  return { folder, files: await segmentFiles(folder) };
}

type Change = (line: string) => string | undefined;

/** Changes or removes the one line with this text, and deletes everything derived from the log. */
async function damage(folder: string, file: string, text: string, change: Change): Promise<void> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines.filter((line) => line.includes(text))).toHaveLength(1);
  const changed = lines.flatMap((line) => (line.includes(text) ? (change(line) ?? []) : line));
  await writeFile(file, `${changed.join('\n')}\n`);
  await rm(join(folder, 'index'), { recursive: true, force: true });
}

const lose: Change = () => undefined;
const garble: Change = (line) => line.replace('{"version":1,"ev', '{"vers\0on":1,"e\uFFFD');

const listed = (log: TrajectoryLog): string[] =>
  log
    .list({ offset: 0, limit: 99, sort: 'oldest' })
    .rows.map(({ id, doubtful }) => (doubtful ? `${id}?` : id));

describe('a lost line of which nobody can tell what it said', () => {
  it('leaves out the dialogues that it may have deleted, unless they are asked for', async () => {
    for (const change of [lose, garble]) {
      const { folder, files } = await written([
        ...[...dialogue('e1', 1), ...dialogue('e2', 1)],
        ...[deleted('e1'), ...dialogue('e3', 1)],
      ]);
      await damage(folder, files[0]!, '"event":"deleted"', change);
      for (const log of [await openLog(folder), await openLog(folder)]) {
        expect(listed(log)).toEqual(['e1?', 'e2?', 'e3']);
        expect((await log.trajectory('e1'))?.doubtful).toMatch(
          /^Lines of the log were lost after this dialogue/,
        );
        expect(await exported(log)).toEqual({ ids: ['e3'], leftOut: { doubtful: 2 } });
        expect(await exported(log, { staysHere: true })).toEqual({ ids: ['e3'], leftOut: { doubtful: 2 } });
        expect((await exported(log, { withDoubtful: true })).ids).toEqual(['e1', 'e2', 'e3']);
        await log.close();
      }
    }
  });

  it('says nothing of a dialogue that was deleted or restored later', async () => {
    const { folder, files } = await written([
      ...[...dialogue('e1', 1), ...dialogue('e2', 1), deleted('e3')],
      ...[deleted('e1'), undeleted('e1')],
    ]);
    await damage(folder, files[0]!, '"e3"', lose);
    const log = await openLog(folder);
    expect(listed(log)).toEqual(['e1', 'e2?']);
    expect((await exported(log)).ids).toEqual(['e1']);
    await log.delete(['e2']);
    await log.undelete(['e2']);
    expect(listed(log)).toEqual(['e1', 'e2']);
    expect((await exported(log)).ids).toEqual(['e1', 'e2']);
  });

  it('in one file says something of the dialogues of the others that had begun by then', async () => {
    const { folder, files } = await written(
      dialogue('e1', 1),
      [...dialogue('e2', 1), deleted('e1'), ...dialogue('e3', 1)],
      dialogue('e4', 1),
    );
    await damage(folder, files[1]!, '"event":"deleted"', lose);
    const log = await openLog(folder);
    expect(listed(log)).toEqual(['e1?', 'e2?', 'e3', 'e4']);
  });

  it('at the end of a file says nothing of what began after the file was written', async () => {
    const { folder, files } = await written([...dialogue('e1', 1), deleted('e1')]);
    await damage(folder, files[0]!, '"event":"deleted"', garble);
    const before = new Date(Date.now() - 1000);
    await utimes(files[0]!, before, before);
    const log = await openLog(folder);
    await log.recordTask(doubling);
    await log.appendAll(dialogue('e2', 1));
    for (const each of [log, await openLog(folder)]) expect(listed(each)).toEqual(['e1?', 'e2']);
  });

  it('is told by its beginning where that can be read', async () => {
    const { folder, files } = await written([
      ...[...dialogue('e1', 1), ...dialogue('e2', 1), deleted('e1'), ...dialogue('e3', 1)],
    ]);
    const text = '"event":"deleted","episode":"e1"';
    const original = await readFile(files[0]!, 'utf8');
    const told: Change[] = [
      (line) => line.replace('"at":"2', '"at":"3'),
      (line) => line.replace('"deleted"', '"Deleted"'),
      // A byte has become a line feed.
      (line) => line.replace(',"at":"2', ',"at":"\n'),
    ];
    for (const change of told) {
      await damage(folder, files[0]!, text, change);
      const log = await openLog(folder);
      expect(listed(log)).toEqual(['e1', 'e2', 'e3']);
      expect(await exported(log)).toEqual({ ids: ['e2', 'e3'], leftOut: { damaged: 1 } });
      await writeFile(files[0]!, original);
    }
    // The line names a dialogue that the log does not have, so it may belong to any.
    await damage(folder, files[0]!, text, (line) => line.replace('"e1"', '"e9"'));
    expect((await exported(await openLog(folder))).ids).toEqual(['e3']);
  });

  it('of an older Tandem is one that is no JSON', async () => {
    const { folder, files } = await written([
      ...[...dialogue('e1', 1), deleted('e1'), ...dialogue('e2', 1)],
      { event: 'rating', episode: 'e2', stars: 3, by: 'kim' },
    ]);
    await takeSealsAway(folder);
    // Valid JSON that is no event still names its dialogue.
    await damage(folder, files[0]!, '"event":"rating"', (line) => line.replace('"stars":3', '"stars":9'));
    expect(listed(await openLog(folder))).toEqual(['e2']);
    await damage(folder, files[0]!, '"event":"deleted"', garble);
    const log = await openLog(folder);
    expect(listed(log)).toEqual(['e1?', 'e2']);
    expect(await exported(log)).toMatchObject({ ids: [], leftOut: { doubtful: 1, damaged: 1 } });
  });

  it('may have been a consent that was withdrawn', async () => {
    for (const change of [
      lose,
      garble,
      (line: string) => line.replace('"level":"local"', '"level":"lOcal"'),
    ]) {
      const { folder, files } = await written([
        ...[consent('export'), ...dialogue('e1', 1, { collaborator: kim }), consent('local')],
        ...[...dialogue('e2', 1, { collaborator: kim }), ...dialogue('e3', 1)],
      ]);
      await damage(folder, files[0]!, '"level":"local"', change);
      const log = await openLog(folder);
      expect((await exported(log)).ids).toEqual(['e3']);
      expect((await exported(log)).leftOut).toEqual({ doubtful: 2 });
      expect((await exported(log, { withDoubtful: true })).ids).toEqual(['e1', 'e2', 'e3']);
      // Data that stays on this machine needs no such consent.
      expect((await exported(log, { staysHere: true })).ids).toContain('e2');
      await log.append(consent('export'));
      expect((await exported(log)).ids).toContain('e2');
    }
  });
});

describe('a segment of an older Tandem, whose lines have no check sums', () => {
  const isChanged = (log: TrajectoryLog): boolean =>
    log.problems.some(({ reason }) => reason.startsWith('The file was changed after'));

  it('is noted once when a new one is begun, so that a change of it is noticed from then on', async () => {
    const { folder, files } = await written([...dialogue('e1', 1), ...dialogue('e2', 1)], dialogue('e3', 1));
    await takeSealsAway(folder);
    for (const id of ['e4', 'e5']) {
      const log = await openLog(folder);
      await log.recordTask(doubling);
      await log.appendAll(dialogue(id, 1));
      await log.close();
      expect(log.problems).toEqual([]);
    }
    const all = await Promise.all((await segmentFiles(folder)).map((file) => readFile(file, 'utf8')));
    const named = all.join('').match(/"older":\[[^\]]*\]/g)!;
    expect(named).toHaveLength(1);
    expect(named[0]).toContain(`"name":"${basename(files[1]!)}"`);
    // Only the first segment changes, and stays valid JSON; either file reveals the change.
    const original = await readFile(files[0]!, 'utf8');
    await writeFile(files[0]!, original.replace('"leaked":false', '"leaked":true '));
    for (let time = 0; time < 2; time += 1) {
      const log = await openLog(folder);
      expect(isChanged(log)).toBe(true);
      expect(listed(log)).toEqual(['e1?', 'e2?', 'e3?', 'e4', 'e5']);
      await log.close();
    }
    expect((await checkLog(folder)).problems).toHaveLength(1);
    await writeFile(files[0]!, original);
    const mended = await openLog(folder);
    expect(mended.problems).toEqual([]);
    expect(listed(mended)).toEqual(['e1', 'e2', 'e3', 'e4', 'e5']);
  });

  it('may be rewritten when a developer is erased, and is then noted anew', async () => {
    const { folder } = await written([...dialogue('e1', 1), ...dialogue('kims', 1, { collaborator: kim })]);
    await takeSealsAway(folder);
    for (const id of ['e2', 'e3']) {
      const log = await openLog(folder);
      await log.recordTask(doubling);
      await log.appendAll(dialogue(id, 1));
      if (id === 'e2') await log.eraseDeveloper('kim');
      expect(log.problems).toEqual([]);
      await log.close();
    }
    const [first] = await segmentFiles(folder);
    await writeFile(first!, (await readFile(first!, 'utf8')).replace('"reward":1', '"reward":0'));
    expect(isChanged(await openLog(folder))).toBe(true);
  });
});

describe('the list', () => {
  it('says of every dialogue whether it is doubtful as folding its events does, whatever is lost', async () => {
    const random = seeded(5);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
    const ids = Array.from({ length: 12 }, (_, number) => `e${number}`);
    for (let round = 0; round < 12; round += 1) {
      const folder = await temporaryFolder();
      const logs = [await openLog(folder), await openLog(folder)];
      for (const log of logs) await log.recordTask(doubling);
      for (const id of ids) {
        await pick(logs).appendAll(dialogue(id, 1));
        for (const log of logs) await log.refresh();
        const other = pick(ids);
        if (pick(logs).summary(other)) await pick(logs).append(pick([deleted, undeleted])(other));
      }
      for (const log of logs) await log.close();
      for (const file of await segmentFiles(folder)) {
        const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
        const changed = lines.flatMap((line) => {
          if (random() > 0.05) return line;
          return pick([lose, garble])(line) ?? [];
        });
        await writeFile(file, `${changed.join('\n')}\n`);
      }
      await rm(join(folder, 'index'), { recursive: true });
      const log = await openLog(folder);
      for (const { id, doubtful } of log.list({ offset: 0, limit: 99 }).rows) {
        const whole = await log.trajectory(id).catch(() => undefined); // its task may be lost
        if (whole) expect(doubtful ?? false, id).toBe(whole.doubtful !== undefined);
      }
    }
  });
});

describe('what was lost', () => {
  it('stays in doubt in a repaired log, unless a person accepts the loss', async () => {
    for (const older of [false, true]) {
      const { folder, files } = await written([
        ...[...dialogue('e1', 1), ...dialogue('e2', 1), deleted('e1')],
        ...dialogue('e3', 1),
      ]);
      if (older) await takeSealsAway(folder);
      const later = await openLog(folder);
      await later.recordTask(doubling);
      await later.appendAll(dialogue('e4', 1));
      await later.close();
      await damage(folder, files[0]!, '"event":"deleted"', garble);
      const found = await checkLog(folder);
      // The record of an older segment does not give the place of the damage.
      expect(found.doubtful).toEqual(older ? ['e1', 'e2', 'e3'] : ['e1', 'e2']);
      expect(Object.keys(found.losses)).toHaveLength(1);
      const { folder: doubted } = await repairLog(folder, found);
      expect(await checkLog(doubted)).toMatchObject({ problems: [], doubtful: ['e1', 'e2', 'e3'] });
      expect((await exported(await openLog(doubted))).ids).toEqual(['e4']);
      await rm(doubted, { recursive: true });
      const { folder: accepted } = await repairLog(folder, found, true);
      expect(await checkLog(accepted)).toMatchObject({ problems: [], doubtful: [], losses: {} });
      expect((await exported(await openLog(accepted))).ids).toEqual(['e1', 'e2', 'e3', 'e4']);
    }
  });

  it('stays in doubt when a developer is erased, whose lines go with those that cannot be read', async () => {
    const { folder, files } = await written([
      ...[...dialogue('e1', 1), ...dialogue('kims', 1, { collaborator: kim }), deleted('e1')],
    ]);
    await damage(folder, files[0]!, '"event":"deleted"', garble);
    const log = await openLog(folder);
    await log.eraseDeveloper('kim');
    for (const each of [log, await openLog(folder)]) {
      expect(each.problems).toEqual([]);
      expect(listed(each)).toEqual(['e1?']);
    }
  });
});
