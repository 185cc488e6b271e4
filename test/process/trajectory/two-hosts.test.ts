import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { indexFileOf } from '../../../src/core/trajectory/index/keptIndex';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { kim, openLog, play, segmentFiles, temporaryFolder } from '../../fixtures/log';
import { kill, printed, program, type Child } from '../../unit/trajectory/processes/start';

/*
 * This process is one machine, and the other is a process in a namespace of Linux that has its own host name: neither
 * looks the other's processes up.
 */

const LATE = new Date(Date.now() - 11 * 60_000);

/** Lets eleven minutes pass for the files of a folder that name processes. */
async function elevenMinutes(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.endsWith('.owner')) await utimes(join(folder, name), LATE, LATE);
}

const indexes = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, 'index'))).filter((name) => name.endsWith('.sqlite')).sort();

const nameOf = (folder: string, host: string): string => basename(indexFileOf(folder, host));

/** Returns which files below a folder hold a text. */
async function holding(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'latin1')));
  return files.filter((_, index) => texts[index]!.includes(text));
}

const ids = (log: TrajectoryLog): string[] => log.list({ offset: 0, limit: 1000 }).rows.map(({ id }) => id);

describe.runIf(process.platform === 'linux')('two machines over one data folder', () => {
  const append = program('append', '', 'north');
  const claim = program('claim', '', 'north');
  const erase = program('erase', '', 'north');
  const eraseBound = program('erase', 'mount --bind "$4" "$4"', 'north');
  const started = (child: Child): Child => {
    onTestFinished(() => kill(child));
    return child;
  };

  it('write and read it at once, each with an index of its own', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'ours', 1);
    const child = started(append(folder, 'theirs'));
    await printed(child, /^3 3$/m);
    await log.refresh();
    expect(ids(log)).toEqual(expect.arrayContaining(['ours', 'theirs-0', 'theirs-1', 'theirs-2']));
    expect((await log.trajectory('theirs-2'))?.turns).toHaveLength(3);
    expect(await indexes(folder)).toEqual([hostname(), 'north'].map((host) => nameOf(folder, host)).sort());
    await kill(child);
    await log.refresh();
    expect(log.problems).toEqual([]);
  });

  it('wait for what is still on its way between them, and no longer than the writer lives', async () => {
    const folder = await temporaryFolder();
    const child = started(append(folder, 'theirs'));
    await printed(child, /^2 3$/m);
    await kill(child);
    const [file] = await segmentFiles(folder);
    // The writer may have begun further segments before it was killed; this one is to be the one that it writes.
    await writeFile(`${file}.owner`, JSON.stringify({ pid: child.process.pid, host: 'north', began: null }));
    const whole = await readFile(file!);
    // The drive has the end of a write, and zeros where its middle will be.
    const middle = whole.indexOf('"theirs-1"');
    const holed = Buffer.from(whole).fill(0, middle, middle + 3000);
    await writeFile(file!, holed);
    const log = await openLog(folder);
    expect(ids(log)).toContain('theirs-0');
    expect(ids(log)).not.toContain('theirs-1');
    expect(ids(log)).not.toContain('theirs-2');
    expect(log.problems).toEqual([]);
    await writeFile(file!, whole);
    await log.refresh();
    expect(ids(log)).toEqual(expect.arrayContaining(['theirs-0', 'theirs-1', 'theirs-2']));
    expect(log.problems).toEqual([]);
    await log.close();

    await rm(join(folder, 'index'), { recursive: true });
    await writeFile(file!, holed);
    await elevenMinutes(join(folder, 'log'));
    const late = await openLog(folder);
    expect(ids(late)).toContain('theirs-2');
    expect(late.problems).not.toEqual([]);
  });

  it('respect the claims of each other: that of a dead one for ten minutes more', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    const child = started(claim(folder, 'episode-e1'));
    await printed(child, /held/);
    const again = (): Promise<unknown> => log.claim('episode-e1', 'This dialogue');
    await expect(again()).rejects.toThrow(/on north, .* or delete .*\.owner\.$/);
    await kill(child);
    await expect(again()).rejects.toThrow('on north');
    await elevenMinutes(join(folder, 'claims'));
    await again();
    expect(await readdir(join(folder, 'claims'))).toHaveLength(1);
    const other = started(claim(folder, 'episode-e1'));
    await printed(other, new RegExp(`refused: .* on ${hostname()}, .* if ${hostname()} was switched off`));
  });

  it('erase from all that either keeps, and not while the other may be writing', async () => {
    const folder = await temporaryFolder();
    const child = started(append(folder, 'theirs'));
    await printed(child, /^1 3$/m);
    const [theirs] = await segmentFiles(folder);
    const log = await openLog(folder);
    await play(log, 'kims', 1, { collaborator: kim });
    await log.close();
    await kill(child);
    // It may have been killed between two segments, or before its name was in an owner file.
    await writeFile(
      `${theirs}.owner`,
      JSON.stringify({ pid: child.process.pid, host: 'north', began: null }),
    );
    // The other machine knows of kim too, and its Tandem dies with its index as it is.
    const reader = started(claim(folder, 'anything'));
    await printed(reader, /held/);
    await kill(reader);
    expect(await holding(folder, '"kim"')).not.toEqual([]);
    expect(await holding(join(folder, 'index'), 'kims')).toEqual(
      expect.arrayContaining([expect.stringContaining('north')]),
    );

    const opened = await openLog(folder);
    await expect(opened.eraseDeveloper('kim')).rejects.toThrow(
      /on north is writing to .*\.jsonl\. .* or delete .*\.owner\.$/,
    );
    await elevenMinutes(join(folder, 'log'));
    expect(await opened.eraseDeveloper('kim')).toMatchObject({ episodes: 1 });
    await opened.close();
    expect(await holding(folder, 'kim')).toEqual([]);
    expect(await indexes(folder)).toEqual([nameOf(folder, hostname())]);
  });

  it('do not erase while the share lets nobody remove the index of the other', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'kims', 1, { collaborator: kim });
    await log.close();
    const child = started(eraseBound(folder, 'kim', indexFileOf(folder)));
    expect(await child.ended).toBe(1);
    expect(child.errors()).toMatch(/index\/trajectories\..*\.sqlite.* EBUSY/);
    expect((await openLog(folder)).summary('kims')).toBeDefined();
    expect(await erase(folder, 'kim').ended).toBe(0);
    expect(await holding(folder, 'kim')).toEqual([]);
  });

  it('lose nothing when one sleeps, and the other takes it for dead and rewrites the log', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'before', 1);
    await play(log, 'kims', 1, { collaborator: kim });
    await elevenMinutes(join(folder, 'log'));
    expect(await erase(folder, 'kim').ended).toBe(0);

    const now = Date.now() + 11 * 60_000; // the clock shows it when the machine wakes
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    await play(log, 'after', 1);
    expect(await segmentFiles(folder)).toHaveLength(2);
    await log.refresh();
    expect(ids(log).sort()).toEqual(['after', 'before']);
    await log.close();
    const opened = await openLog(folder);
    expect(ids(opened).sort()).toEqual(['after', 'before']);
    expect(opened.problems).toEqual([]);
    expect(await holding(folder, 'kim')).toEqual([]);
  });
});
