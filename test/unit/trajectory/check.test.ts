import { appendFile, cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLog, repairedFolder, repairLog } from '../../../src/core/trajectory/check';
import { exported } from './exported';
import {
  doubling,
  kim,
  openLog,
  play,
  segmentFiles,
  takeSealsAway,
  temporaryFolder,
} from '../../fixtures/log';

/** Creates a data folder with three dialogues in one segment. */
async function filled(): Promise<{ folder: string; file: string; lines: string[] }> {
  const folder = join(await temporaryFolder(), '.tandem');
  const log = await openLog(folder);
  for (const id of ['e1', 'e2', 'e3']) await play(log, id, 1);
  await log.close();
  const [file] = await segmentFiles(folder);
  return { folder, file: file!, lines: (await readFile(file!, 'utf8')).trimEnd().split('\n') };
}

/** Returns the index of the line of this kind and dialogue, from 0. */
function at(lines: readonly string[], kind: string, episode: string): number {
  return lines.findIndex((line) => line.includes(`"event":"${kind}","episode":"${episode}"`));
}

async function contentOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents: Record<string, string> = {};
  for (const file of files) contents[file] = await readFile(file, 'latin1');
  return contents;
}

const exportedFrom = async (folder: string): Promise<string[]> => (await exported(await openLog(folder))).ids;

describe('checking a log', () => {
  it('finds nothing wrong with one that is as it was written, and changes nothing', async () => {
    const { folder } = await filled();
    const before = await contentOf(folder);
    expect(await checkLog(folder)).toEqual({
      ...{ segments: 1, lines: 23, episodes: 3 },
      ...{ problems: [], damaged: [], doubtful: [], losses: {}, remarks: [] },
    });
    expect(await contentOf(folder)).toEqual(before);
  });

  it('names lost and changed lines, damaged dialogues and an index that does not fit', async () => {
    const { folder, file, lines } = await filled();
    const changed = at(lines, 'leak', 'e1');
    lines[changed] = lines[changed]!.replace('"fraction":0.1', '"fraction":0.2');
    lines.splice(at(lines, 'reply', 'e2'), 1);
    await writeFile(file, `${lines.join('\n')}\n{"version":1,"ev`);
    const found = await checkLog(folder);
    expect(found.problems.map(({ reason }) => reason)).toEqual([
      'The leak event was changed after it was written: its check sum is wrong. It is passed over.',
      expect.stringMatching(/^1 line is missing before this one/),
      expect.stringMatching(/^The last line is torn/),
    ]);
    expect(found.damaged).toEqual([
      { episode: 'e1', reason: expect.stringContaining('check sum is wrong') as string },
      { episode: 'e2', reason: 'The reply to turn 1 is missing from the log.' },
    ]);
    expect(found.remarks).toEqual([
      expect.stringMatching(
        /^The index .*trajectories\..*\.sqlite does not fit the log: .* is shorter than it was\. It is/,
      ),
    ]);
  });

  it('says that an erasure was interrupted, and what to do when its plan cannot be read', async () => {
    const { folder } = await filled();
    const plan = join(folder, 'log', 'erasing.json');
    await writeFile(plan, JSON.stringify({ pseudonym: 'kim', episodes: [] }));
    expect((await checkLog(folder)).remarks).toEqual([
      expect.stringContaining('Erasing the data of kim was interrupted: run tandem erase'),
    ]);
    await truncate(plan, 10);
    expect((await checkLog(folder)).remarks).toEqual([
      `${plan} says what an interrupted erasure takes out of the log, and cannot be read. Delete it and erase the data of that developer again.`,
    ]);
  });

  it('asks for a data folder when it was given another one', async () => {
    const folder = await temporaryFolder();
    await expect(checkLog(folder)).rejects.toThrow(
      /holds no \*\.jsonl, so .* is not a data folder with a log/,
    );
  });
});

describe('repairing a log', () => {
  it('saves every line that can be read, byte for byte and in its order, and leaves the old folder as it was', async () => {
    const { folder, file, lines } = await filled();
    const changed = at(lines, 'grade', 'e2');
    const damaged = [...lines];
    damaged[changed] = lines[changed]!.replace('"reward":1', '"reward":0');
    // Two lines have changed places, and a line feed is lost.
    const [one, other] = [at(lines, 'agent-turn', 'e3'), at(lines, 'reply', 'e3')];
    [damaged[one], damaged[other]] = [damaged[other]!, damaged[one]!];
    await writeFile(file, `${damaged.join('\n').replace('}\n{', '}\0{')}\n{"version":1,"ev`);
    const before = await contentOf(folder);
    const found = await checkLog(folder);
    const repair = await repairLog(folder, found);
    expect(repair).toEqual({ folder: repairedFolder(folder), saved: 21, lost: 2 });
    expect(await contentOf(folder)).toEqual(before);
    const saved = (await readFile(join(repair.folder, 'log', basename(file)), 'utf8')).trimEnd().split('\n');
    expect(saved.slice(1)).toEqual(lines.filter((_, index) => index !== 0 && index !== changed));
    expect(await checkLog(repair.folder)).toMatchObject({ problems: [], remarks: [] });
  });

  it('marks what is left of a damaged dialogue, so that it does not pass for a whole one', async () => {
    for (const older of [false, true]) {
      const { folder, file, lines } = await filled();
      const changed = at(lines, 'leak', 'e2');
      await writeFile(
        file,
        `${lines.with(changed, lines[changed]!.replace('"leaked":false', '"leaked":falsE')).join('\n')}\n`,
      );
      if (older) await takeSealsAway(folder);
      const { folder: repaired } = await repairLog(folder, await checkLog(folder));
      expect((await checkLog(repaired)).problems).toEqual([]);
      expect(await exportedFrom(repaired)).toEqual(['e1', 'e3']);
      const log = await openLog(repaired);
      expect((await log.trajectory('e2'))?.damaged).toBeDefined();
      expect((await log.trajectory('e2'))?.turns).toHaveLength(2);
      // The log can be continued like any other.
      await play(log, 'e4', 1);
      await log.close();
      expect(await exportedFrom(repaired)).toEqual(['e1', 'e3', 'e4']);
      await rm(repaired, { recursive: true });
    }
  });

  it('keeps what an erasure and an earlier repair said of the numbers that are not there', async () => {
    const { folder, file } = await filled();
    const log = await openLog(folder);
    await play(log, 'kims', 1, { collaborator: kim });
    await play(log, 'e4', 1);
    await log.eraseDeveloper('kim');
    await log.close();
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('reply 1', 'Reply 1'));
    const { folder: once } = await repairLog(folder, await checkLog(folder));
    const again = join(await temporaryFolder(), 'again');
    await cp(once, again, { recursive: true });
    await appendFile((await segmentFiles(again))[0]!, 'torn');
    const { folder: twice, lost } = await repairLog(again, await checkLog(again));
    expect(lost).toBe(1);
    for (const each of [once, twice]) {
      expect((await checkLog(each)).problems).toEqual([]);
      expect(await exportedFrom(each)).toEqual(['e2', 'e3', 'e4']);
    }
  });

  it('is refused over what is there, while the log is written to, and in the middle of an erasure', async () => {
    const { folder, file } = await filled();
    await truncate(file, 3000);
    const found = await checkLog(folder);
    const writer = await openLog(folder);
    await writer.recordTask(doubling);
    await play(writer, 'e9', 1);
    await expect(repairLog(folder, found)).rejects.toThrow(
      /^Process \d+ on .* is writing to .*Close that Tandem/,
    );
    await writer.close();
    const plan = join(folder, 'log', 'erasing.json');
    await writeFile(plan, JSON.stringify({ pseudonym: 'kim', episodes: [] }));
    await expect(repairLog(folder, found)).rejects.toThrow('Erasing the data of kim was interrupted');
    await rm(plan);
    await repairLog(folder, found);
    await expect(repairLog(folder, found)).rejects.toThrow('nothing is written over it');
  });
});
