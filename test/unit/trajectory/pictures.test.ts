import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { checkLog } from '../../../src/core/trajectory/check';
import type { Collaborator } from '../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { pictureId } from '../../../src/core/trajectory/pictures';
import {
  agentTurn,
  answered,
  doubling,
  openLog,
  reply,
  simulator,
  started,
  temporaryFolder,
} from '../../fixtures/log';

const wanted = Buffer.from('the wanted page');
const drafts = { one: Buffer.from('a draft'), two: Buffer.from('another draft') };

/** A dialogue with a simulator that was shown two pictures. */
async function shown(
  log: TrajectoryLog,
  episode: string,
  draft: Buffer,
  collaborator: Collaborator = simulator,
): Promise<void> {
  await log.recordTask(doubling);
  const pictures = { draft: pictureId(draft), wanted: pictureId(wanted), renderer: 'a test' };
  const said = { ...reply(episode, 1), shown: 'pictures', pictures } as ReturnType<typeof reply>;
  await log.appendAll([started(episode, { collaborator }), agentTurn(episode, 1)]);
  await log.append(said, { durable: true, pictures: [draft, wanted] });
  await log.appendAll([agentTurn(episode, 2), answered(episode, 2)], { durable: true });
}

const kept = async (folder: string): Promise<string[]> =>
  (await readdir(path.join(folder, 'pictures'))).sort();
const filesOf = (...pngs: readonly Buffer[]): string[] => pngs.map((png) => `${pictureId(png)}.png`).sort();

it('keeps each picture once, and finds one that is missing or was changed', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  await shown(log, 'e1', drafts.one);
  await shown(log, 'e2', drafts.two);
  await log.close();
  expect(await kept(data)).toEqual(filesOf(drafts.one, drafts.two, wanted));
  expect((await checkLog(data)).remarks).toEqual([]);
  await rm(path.join(data, 'pictures', filesOf(drafts.one)[0]!));
  await writeFile(path.join(data, 'pictures', filesOf(drafts.two)[0]!), 'another draft?');
  const { remarks } = await checkLog(data);
  expect(remarks).toHaveLength(2);
  expect(remarks.join(' ')).toMatch(
    /dialogue e1 was shown, is missing.*dialogue e2 was shown, has other content/,
  );
});

it("erases the pictures that only a person's dialogues name, and what a crash has left", async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  await shown(log, 'e1', drafts.one);
  await shown(log, 'e2', drafts.two, { kind: 'developer', name: 'ada' });
  await writeFile(path.join(data, 'pictures', `x.png.1234.unfinished`), 'half a picture');
  await log.eraseDeveloper('ada');
  expect(await kept(data)).toEqual(filesOf(drafts.one, wanted));
  expect((await checkLog(data)).remarks).toEqual([]);
});

it('takes pictures over with the dialogues of another data folder, and counts those that are not there', async () => {
  const [here, there] = [await temporaryFolder(), await temporaryFolder()];
  const two = await openLog(there);
  await shown(two, 'e1', drafts.one);
  await shown(two, 'e2', drafts.two);
  await two.close();
  await writeFile(path.join(there, 'pictures', filesOf(drafts.two)[0]!), 'something else');
  const one = await openLog(here);
  expect(await one.merge(there)).toMatchObject({ imported: 2, leftOut: { pictures: 1 } });
  expect(await kept(here)).toEqual(filesOf(drafts.one, wanted));
  expect((await one.trajectory('e1'))!.turns[0]!.reply!.pictures).toMatchObject({
    wanted: pictureId(wanted),
  });
});

it('logs nothing whose picture cannot be kept', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  await writeFile(path.join(data, 'pictures'), 'a file in the place of the folder');
  await expect(shown(log, 'e1', drafts.one)).rejects.toMatchObject({ code: 'trajectory/not-written' });
  expect((await log.trajectory('e1'))!.turns[0]!.reply).toBeUndefined();
});
