import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { root } from '../../../scripts/setup/project.mjs';
import { Uri, window, workspace } from './vscode';

vi.mock('vscode', () => import('./vscode'));

const { StarterPacks } = await import('../../../src/editor/tasks/adding/starter');
const { Packs } = await import('../../../src/editor/tasks/packs');

/** A workspace of one folder, its settings in memory. */
async function workbench() {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-adding-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  workspace.workspaceFolders = [{ uri: { fsPath: folder } }];
  const configuration = {
    agent: '',
    packs: ['**/*.jsonl'],
    folder: workspace.workspaceFolders[0],
    set: (name: string, value: never) =>
      Promise.resolve(void Object.assign(configuration, { [name]: value })),
    setHere(name: 'packs', value: string[]) {
      configuration[name] = value;
      return Promise.resolve(() => Promise.resolve());
    },
  };
  const engine = { configuration };
  const packs = new Packs({ all: [engine], of: () => engine } as never, (error) => {
    throw error;
  });
  const listed = async (): Promise<string[]> => (await packs.all()).map(({ name }) => name);
  const at = (name: string): string => path.join(folder, name);
  return { configuration, packs, listed, at };
}

beforeEach(() => {
  window.showInformationMessage.mockClear();
  window.showWarningMessage.mockClear();
});

it('the packs that ship can be added again, also after they were taken out of the list', async () => {
  const { configuration, packs, listed, at } = await workbench();
  const starter = new StarterPacks(Uri.file(root) as never, configuration as never, packs);
  expect(await starter.add()).toBe(at('starter-world.jsonl'));
  expect(configuration.agent).toBe('starter');
  await packs.leaveOut(at('starter.jsonl'));
  await packs.leaveOut(at('starter-world.jsonl'));
  packs.refresh();
  expect(await listed()).toEqual([]);
  expect(await starter.add()).toBe(at('starter-world.jsonl'));
  expect(configuration.packs).toEqual(['**/*.jsonl']);
  expect(await listed()).toEqual(['starter-world', 'starter']);
  expect(window.showInformationMessage).not.toHaveBeenCalled();
});

it('a pack of that name that was changed stays as it is, which is said', async () => {
  const { configuration, packs, at } = await workbench();
  const starter = new StarterPacks(Uri.file(root) as never, configuration as never, packs);
  await starter.add();
  const shorter = `${(await readFile(at('starter.jsonl'), 'utf8')).split('\n')[0]}\n`;
  await writeFile(at('starter.jsonl'), shorter);
  await starter.add();
  expect(await readFile(at('starter.jsonl'), 'utf8')).toBe(shorter);
  expect(window.showInformationMessage).toHaveBeenCalledWith(
    'Here already, and left as they are: starter.jsonl. They differ from what ships.',
  );
});
