import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Prompts } from '../../../src/core/dialogue/prompts';

const shipped = path.resolve('trainer/tandem_trainer/data/prompts');
const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

const folderWith = async (file: string, text: string): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-prompts-'));
  folders.push(folder);
  await writeFile(path.join(folder, file), text);
  return folder;
};

describe('the prompts', () => {
  it('fill in the task and leave out the version comment', async () => {
    const prompts = await Prompts.load(shipped);
    const text = prompts.render('agent.md', {
      description: 'Price {{maxTurns}} $& parcels',
      maxTurns: 10,
      replyLimit: 400,
    });
    expect(text).toContain('Price {{maxTurns}} $& parcels');
    expect(text).toContain('at most 10 messages');
    expect(text).not.toContain('<!--');
  });

  it('are replaced one by one by files of the user, and the log can tell', async () => {
    const own = await Prompts.load(
      shipped,
      await folderWith('agent.md', 'Do {{description}} in {{maxTurns}}.'),
    );
    const ours = await Prompts.load(shipped);
    expect(own.render('agent.md', { description: 'it', maxTurns: 3, replyLimit: 1 })).toBe('Do it in 3.');
    expect(own.versions['agent.md']).not.toBe(ours.versions['agent.md']);
    expect(own.versions['simulator.md']).toBe(ours.versions['simulator.md']);
  });

  it('have a short one for small models, named by a word, that says the same protocol in a third of the words', async () => {
    const given = { description: 'Sort it.', maxTurns: 3, replyLimit: 400 };
    const [whole, short] = [await Prompts.load(shipped), await Prompts.load(shipped, 'short')];
    const text = short.render('agent.md', given);
    expect(text.length).toBeLessThan(whole.render('agent.md', given).length / 3);
    for (const part of ['at most 3\nmessages', 'OUTPUT:', 'I WANT TO ANSWER:', 'Sort it.'])
      expect(text).toContain(part);
    expect(short.versions['simulator.md']).toBe(whole.versions['simulator.md']);
    expect((await Prompts.load(shipped, undefined, 'short')).versions).toEqual(short.versions);
  });

  it('accept spaces inside a placeholder, and a byte-order mark before the version comment', async () => {
    const folder = await folderWith('agent.md', '\uFEFF<!-- version 2 -->\nDo {{ description }}.');
    const prompts = await Prompts.load(shipped, folder);
    expect(prompts.render('agent.md', { description: 'it', maxTurns: 3, replyLimit: 1 })).toBe('Do it.');
  });

  it.each([
    ['agent.md', 'Do {{description}} in {{max-turns}}.', /uses \{\{max-turns\}\}, which does not exist/],
    ['agent.md', '<!-- {{description}} -->\nWrite a function.', /agent\.md lacks \{\{description\}\}/],
    ['agent.md', '<!-- to be written -->\n', /agent\.md is empty/],
    ['simulator.md', 'Reply.', /simulator\.md lacks \{\{hiddenInformation\}\}, \{\{transcript\}\}, without/],
    ['simulator.md', 'Reply to {{transcript}}.', /simulator\.md lacks \{\{hiddenInformation\}\}, without/],
  ])('refuse the %s "%s"', async (file, text, message) => {
    const loading = Prompts.load(shipped, await folderWith(file, text));
    await expect(loading).rejects.toMatchObject({ code: 'dialogue/prompt' });
    await expect(loading).rejects.toThrow(message);
  });

  it('refuse a folder that does not exist or holds no prompt', async () => {
    const folder = await folderWith('agents.md', 'Do {{description}}.');
    await expect(Prompts.load(shipped, path.join(folder, 'none'))).rejects.toMatchObject({
      code: 'dialogue/prompt-folder',
      message: expect.stringMatching(/^The prompt folder .*none cannot be read: ENOENT/) as string,
    });
    await expect(Prompts.load(shipped, folder)).rejects.toMatchObject({
      code: 'dialogue/prompt-folder',
      message: expect.stringContaining(
        'holds neither agent.md nor agent-page.md nor simulator.md nor simulator-specification.md nor simulator-page.md nor simulator-outline.md; put',
      ) as string,
    });
  });
});
