import { readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLog, play, temporaryFolder } from '../../fixtures/log';
import { kill, printed, program } from './processes/start';

async function claimFiles(folder: string): Promise<string[]> {
  return readdir(join(folder, 'claims'));
}

describe('a claim', () => {
  it('is refused to a second one, also of this process, until it is released', async () => {
    const folder = await temporaryFolder();
    const one = await openLog(folder);
    const two = await openLog(folder);
    const claim = await one.claim('episode-e1', 'This dialogue');
    for (const log of [one, two]) {
      await expect(log.claim('episode-e1', 'This dialogue')).rejects.toMatchObject({
        code: 'trajectory/claimed',
        message: expect.stringMatching(
          /^This dialogue is being played by this same process\. Wait until it is done, or stop it there, and try again; if that is not a Tandem, delete .*episode-e1.*\.owner\.$/,
        ) as string,
      });
    }
    await claim.release();
    await claim.release();
    expect(await claimFiles(folder)).toEqual([]);
    await (await two.claim('episode-e1', 'This dialogue')).release();
  });

  it('of one shard leaves the others free, and is refused to whoever wants all of it or other shards', async () => {
    const log = await openLog();
    const first = await log.claim('c', 'The collection c', { index: 1, of: 2 });
    await log.claim('c', 'The collection c', { index: 2, of: 2 });
    for (const shard of [undefined, { index: 1, of: 2 }, { index: 3, of: 3 }])
      await expect(log.claim('c', 'The collection c', shard)).rejects.toThrow('is being played by');
    await first.release();
    await log.claim('c', 'The collection c', { index: 1, of: 2 });
  });

  it('of another machine is not taken for one of this process, which may have the same id there', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await log.claim('c', 'The collection c');
    const [file] = (await claimFiles(folder)).map((name) => join(folder, 'claims', name));
    const text = await readFile(file!, 'utf8');
    await writeFile(file!, text.replace(`"host":"${hostname()}"`, '"host":"elsewhere"'));
    await expect(log.claim('c', 'The collection c')).rejects.toThrow(
      `The collection c is being played by process ${process.pid} on elsewhere`,
    );
  });

  it('is given back when the log is closed', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await log.claim('c', 'The collection c');
    await log.close();
    expect(await claimFiles(folder)).toEqual([]);
    await expect(log.claim('c', 'The collection c')).rejects.toThrow('The log is closed');
  });

  it('shows what the one before has logged', async () => {
    const folder = await temporaryFolder();
    const [one, two] = [await openLog(folder), await openLog(folder)];
    const claim = await one.claim('episode-e1', 'This dialogue');
    await play(one, 'e1', 1);
    await claim.release();
    expect(two.summary('e1')).toBeUndefined();
    await two.claim('episode-e1', 'This dialogue');
    expect(two.summary('e1')).toMatchObject({ state: 'answered' });
  });
});

describe('claims of several processes', () => {
  const claimant = program('claim');

  it('name the process that has it, and end when it is killed', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    const child = claimant(folder, 'episode-e1');
    onTestFinished(() => kill(child));
    await printed(child, /held/);
    await expect(log.claim('episode-e1', 'This dialogue')).rejects.toThrow(
      `This dialogue is being played by process ${child.process.pid} on ${hostname()}, which may be another window`,
    );
    await kill(child);
    const claim = await log.claim('episode-e1', 'This dialogue');
    expect(await claimFiles(folder)).toHaveLength(1);
    await claim.release();
  });

  it('go to exactly one of those that come at once, also over what a dead one left', async () => {
    const folder = await temporaryFolder();
    for (let round = 0; round < 2; round += 1) {
      const children = Array.from({ length: 5 }, () => claimant(folder, 'c'));
      try {
        await Promise.all(children.map((child) => printed(child, /held|refused/)));
        const held = children.filter(({ output }) => output === 'held\n');
        expect(held).toHaveLength(1);
        const refused = children.filter(({ output }) =>
          output.startsWith(`refused: This dialogue is being played by process ${held[0]!.process.pid} `),
        );
        expect(refused).toHaveLength(4);
      } finally {
        await Promise.all(children.map(kill)); // the holder leaves its file behind
      }
    }
  });
});
