import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { authorOf } from '../../../src/editor/session/authorship';
import { Drafts } from '../../../src/editor/session/drafts';

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'tandem-drafts-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

const suggestion = { text: 'Above 20.', by: 'rules', replaced: 'I th' };

it('keeps the words of a draft, and whose they are, until it is sent', async () => {
  const where = await folder();
  const draft = { text: 'Above 20 kg.', suggestion };
  await new Drafts(where).write('../e', { text: 'Above' });
  await new Drafts(where).write('../e', draft);
  expect(await new Drafts(where).read('../e')).toEqual(draft);
  expect(await new Drafts(where).read('another')).toEqual({ text: '' });
  await new Drafts(where).write('../e', { text: '' });
  expect(await readdir(where)).toEqual([]);
});

it('keeps nothing while no folder is open', async () => {
  const drafts = new Drafts(undefined);
  await drafts.write('e', { text: 'Above' });
  expect(await drafts.read('e')).toEqual({ text: '' });
});

it('tells apart whose words a reply has', () => {
  expect(authorOf({ text: 'Mine.' })).toEqual({ author: 'developer' });
  const drafted = { suggestion: 'Above 20.', suggestedBy: 'rules' };
  expect(authorOf({ text: ' Above 20.\n', suggestion })).toEqual({
    author: 'developer-sent-suggestion',
    ...drafted,
  });
  expect(authorOf({ text: 'Above 20 kg.', suggestion })).toEqual({
    author: 'developer-edited-suggestion',
    ...drafted,
  });
});
