import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkLog, repairLog, repairedFolder } from '../../../src/core/trajectory/check';
import {
  agentTurn,
  doubling,
  kim,
  openLog,
  play,
  reply,
  started,
  takeSealsAway,
  temporaryFolder,
} from '../../fixtures/log';
import { Disk, writeImage, type Image } from './disk';
import { seeded } from './random';

vi.mock('node:fs/promises', async (importOriginal) => {
  const layer = await import('./disk');
  return layer.Disk.over(await importOriginal());
});

afterEach(() => Disk.leave());

/** Returns the disk after a power cut at each step of some work, with the work's acknowledgements so far. */
async function cutAtEachStep<T>(
  root: string,
  told: () => T,
  work: () => Promise<void>,
): Promise<{ image: Image; told: T }[]> {
  const disk = Disk.under(root);
  const random = seeded(5);
  const cuts: { image: Image; told: T }[] = [];
  // A step with an unchanged disk replaces the one before, because more was acknowledged by then.
  const add = (image: Image): void => {
    const same = cuts.findIndex(
      (cut, index) => index >= cuts.length - 2 && isDeepStrictEqual(cut.image, image),
    );
    if (same !== -1) cuts.splice(same, 1);
    cuts.push({ image, told: told() });
  };
  disk.onStep = () => {
    add(disk.image());
    add(disk.image(random));
  };
  await work();
  disk.onStep();
  Disk.leave();
  return cuts;
}

/** Process id of the writer, which is gone after the power cut; no other process has this id. */
const NO_PROCESS = 99_999_999;

async function folderOf(image: Image): Promise<string> {
  const root = await temporaryFolder();
  const after = [...image].map(([path, bytes]): [string, Buffer] => {
    if (!path.endsWith('.owner')) return [path, bytes];
    return [path, Buffer.from(bytes.toString().replace(`"pid":${process.pid}`, `"pid":${NO_PROCESS}`))];
  });
  writeImage(new Map(after), root);
  return join(root, 'workspace', '.tandem');
}

describe('a power cut', () => {
  it('loses nothing that was acknowledged, at whichever step it comes', async () => {
    const root = await temporaryFolder();
    let acknowledged = 0;
    const cuts = await cutAtEachStep(
      root,
      () => acknowledged,
      async () => {
        const log = await openLog(join(root, 'workspace', '.tandem'), { segmentBytes: 2_000 });
        await log.recordTask(doubling);
        await log.append(started('e1'));
        for (let turn = 1; turn <= 8; turn += 1) {
          await log.appendAll([agentTurn('e1', turn), reply('e1', turn)], { durable: true });
          acknowledged = turn;
          await log.append({ event: 'rating', episode: 'e1', stars: 3, by: 'kim' });
        }
        await log.close();
      },
    );
    expect(cuts.length).toBeGreaterThan(40);
    for (const { image, told } of cuts) {
      const log = await openLog(await folderOf(image));
      const trajectory = await log.trajectory('e1');
      const turns = trajectory?.turns.map(({ agent, reply: answer }) => [agent.turn, answer?.turn]) ?? [];
      expect(turns.slice(0, told)).toEqual(
        Array.from({ length: told }, (_, index) => [index + 1, index + 1]),
      );
      // Torn lines were not acknowledged, and are reported.
      expect(log.problems.filter(({ reason }) => !reason.startsWith('The last line is torn'))).toEqual([]);
      // The log can be continued.
      await play(log, 'e2', 1);
      expect(log.summary('e2')?.state).toBe('answered');
      await log.close();
    }
  });

  it('while older segments are noted and the use of models is kept puts nothing in doubt that was written', async () => {
    const root = await temporaryFolder();
    const folder = join(root, 'workspace', '.tandem');
    const filling = await openLog(folder);
    await play(filling, 'e1', 1);
    await filling.append({ event: 'rating', episode: 'e1', comment: 'x'.repeat(2_000_000), by: 'kim' });
    await filling.close();
    await takeSealsAway(folder);
    const cuts = await cutAtEachStep(
      root,
      () => undefined,
      async () => {
        const log = await openLog(folder);
        await log.modelUse();
        await play(log, 'e2', 1);
        await log.append({ event: 'rating', episode: 'e2', stars: 3, by: 'kim' }, { durable: true });
        await log.close();
      },
    );
    expect(cuts.length).toBeGreaterThan(10);
    for (const { image } of cuts) {
      const log = await openLog(await folderOf(image));
      expect(log.problems.filter(({ reason }) => !reason.startsWith('The last line is torn'))).toEqual([]);
      expect(log.summary('e1')?.state).toBe('answered');
      for (const { doubtful } of log.list({ offset: 0, limit: 9 }).rows) expect(doubtful).toBeUndefined();
      expect((await log.modelUse())['openai:agent']?.turns).toBeGreaterThanOrEqual(2);
      await log.close();
    }
  });

  it('while a developer is erased loses nothing of the others, and erasing again finishes it', async () => {
    const root = await temporaryFolder();
    const folder = join(root, 'workspace', '.tandem');
    const filling = await openLog(folder, { segmentBytes: 4_000 });
    for (const number of [1, 2, 3]) {
      await play(filling, `kim-${number}`, 1, { collaborator: kim });
      await play(filling, `other-${number}`, 1);
    }
    await filling.close();
    let isErased = false;
    const cuts = await cutAtEachStep(
      root,
      () => isErased,
      async () => {
        const log = await openLog(folder);
        await log.eraseDeveloper('kim');
        isErased = true;
        await log.close();
      },
    );
    expect(cuts.length).toBeGreaterThan(15);
    for (const { image, told } of cuts) {
      const log = await openLog(await folderOf(image));
      const ids = (): string[] => log.list({ offset: 0, limit: 9 }).rows.map(({ id }) => id);
      const others = ['other-1', 'other-2', 'other-3'];
      expect(ids()).toEqual(expect.arrayContaining(others));
      if (told) expect(ids().sort()).toEqual(others);
      await log.eraseDeveloper('kim');
      expect(ids().sort()).toEqual(others);
      expect(log.problems).toEqual([]);
      for (const id of others) expect((await log.trajectory(id))?.damaged).toBeUndefined();
      await log.close();
    }
  });

  it('while a log is repaired leaves the old one as it was, and no half of a new one under its name', async () => {
    const root = await temporaryFolder();
    const folder = join(root, 'workspace', '.tandem');
    const filling = await openLog(folder, { segmentBytes: 4_000 });
    for (const number of [1, 2, 3]) await play(filling, `e${number}`, 1);
    await filling.close();
    const found = await checkLog(folder);
    const before = Disk.under(root).image();
    const cuts = await cutAtEachStep(
      root,
      () => undefined,
      async () => void (await repairLog(folder, found)),
    );
    let whole = 0;
    for (const { image } of cuts) {
      for (const [path, bytes] of before) expect(image.get(path)?.equals(bytes)).toBe(true);
      const repaired = repairedFolder(await folderOf(image));
      if (![...image.keys()].some((path) => path.startsWith(join('workspace', '.tandem-repaired', '/'))))
        continue;
      whole += 1;
      expect(await checkLog(repaired)).toMatchObject({ episodes: 3, problems: [], damaged: [] });
    }
    expect(whole).toBeGreaterThan(0);
  });
});
