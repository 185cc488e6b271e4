import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Prompts } from '../../../src/core/dialogue/prompts';

const shipped = path.resolve('src/core/dialogue/prompts');
const folderWith = async (file: string, text: string): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-prompts-'));
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

  it('refuse a placeholder that does not exist, and say which do', async () => {
    const folder = await folderWith('agent.md', 'Do {{task}}.');
    await expect(Prompts.load(shipped, folder)).rejects.toThrow(
      /agent\.md uses \{\{task\}\}, which does not exist; it may use \{\{description\}\}, /,
    );
  });
});
