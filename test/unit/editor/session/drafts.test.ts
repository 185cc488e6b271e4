import { mkdtemp, open, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Drafts } from '../../../../src/editor/session/drafts';

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'tandem-drafts-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

const drafts = (where: string | undefined, reported: unknown[] = []): Drafts =>
  new Drafts(where, (error) => reported.push(error));

const suggestion = { text: 'Above 20.', by: 'rules', replaced: 'I th' };

it('keeps the words of a draft, and whose they are, until it is sent', async () => {
  const where = await folder();
  const draft = { text: 'Above 20 kg.', suggestion };
  await drafts(where).write('../e', { text: 'Above' });
  await drafts(where).write('../e', draft);
  expect(await drafts(where).read('../e')).toEqual(draft);
  expect(await drafts(where).read('another')).toEqual({ text: '' });
  await drafts(where).write('../e', { text: '' });
  expect(await readdir(where)).toEqual([]);
});

it('forgets a draft that is in the log, but not what was written since', async () => {
  const where = await folder();
  const kept = drafts(where);
  const sent = { text: 'Above 20 kg.' };
  await Promise.all([kept.write('e', sent), kept.forget('e', sent)]);
  expect(await readdir(where)).toEqual([]);
  await Promise.all([kept.write('e', sent), kept.forget('e', sent), kept.write('e', { text: 'In euros.' })]);
  await kept.forget('e', sent);
  expect(await kept.read('e')).toEqual({ text: 'In euros.' });
  expect(await drafts(where).read('e')).toEqual({ text: 'In euros.' });
});

it('takes a draft that was cut off for none, says so in the log, and writes the next one', async () => {
  const where = await folder();
  await drafts(where).write('e', { text: 'Above 20 kg.' });
  const [name] = await readdir(where);
  const file = path.join(where, name!);
  const whole = (await readFile(file)).length;
  for (const length of [0, 1, whole - 1]) {
    await truncate(file, length);
    const reported: unknown[] = [];
    expect(await drafts(where, reported).read('e')).toEqual({ text: '' });
    expect(reported).toEqual([expect.objectContaining({ code: 'session/unreadable-draft' })]);
    await drafts(where).write('e', { text: 'Above 20 kg.' });
    expect(await drafts(where).read('e')).toEqual({ text: 'Above 20 kg.' });
  }
});

it('leaves the draft from before until the next one is whole', async () => {
  const where = await folder();
  await drafts(where).write('e', { text: 'Above' });
  const [name] = await readdir(where);
  const before = await open(path.join(where, name!));
  onTestFinished(() => before.close());
  await drafts(where).write('e', { text: 'Above 20 kg.' });
  // An open handle still reads the complete old content.
  expect(JSON.parse(await before.readFile('utf8'))).toEqual({ text: 'Above' });
  expect(await readdir(where)).toEqual([name]);
});

it('saves the last of the words that come faster than the disk is, and tells them at once', async () => {
  const where = await folder();
  const here = drafts(where);
  const written = ['A', 'Ab', 'Abo'].map((text) => here.write('e', { text }));
  expect(await here.read('e')).toEqual({ text: 'Abo' });
  await Promise.all(written);
  expect(await drafts(where).read('e')).toEqual({ text: 'Abo' });
  const last = here.write('e', { text: 'Above' });
  await here.remove(() => false);
  await last;
  expect([await here.read('e'), await readdir(where)]).toEqual([{ text: '' }, []]);
});

it('keeps a suggestion that comes while nobody looks, and what it takes the place of', async () => {
  const where = await folder();
  const { replaced, ...suggested } = suggestion;
  await drafts(where).write('e', { text: replaced });
  await drafts(where).suggest('e', suggested);
  expect(await drafts(where).read('e')).toEqual({ text: 'Above 20.', suggestion });
  await drafts(where).suggest('e', { ...suggested, text: 'Over 20.' });
  expect(await drafts(where).read('e')).toMatchObject({ text: 'Over 20.', suggestion: { replaced } });
});

it('keeps nothing while no folder is open', async () => {
  await drafts(undefined).write('e', { text: 'Above' });
  expect(await drafts(undefined).read('e')).toEqual({ text: '' });
});
