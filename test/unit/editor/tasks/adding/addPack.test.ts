import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { root } from '../../../../../scripts/setup/project.mjs';
import { Uri, window, workspace } from '../../vscode';

vi.mock('vscode', () => import('../../vscode'));

const { PackAdder } = await import('../../../../../src/editor/tasks/adding/addPack');
const { SamplePacks } = await import('../../../../../src/editor/tasks/adding/addPack');
const { Packs } = await import('../../../../../src/editor/packs');

/** Makes a workspace of one folder with settings in memory. */
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
  const starter = new SamplePacks(Uri.file(root) as never, configuration as never, packs);
  expect(await starter.add()).toBe(at('starter-world.jsonl'));
  expect(configuration.agent).toBe('starter');
  for (const name of ['written-by-hand', 'web-pages', 'starter-world'])
    await packs.leaveOut(at(`${name}.jsonl`));
  packs.refresh();
  expect(await listed()).toEqual([]);
  expect(await starter.add()).toBe(at('starter-world.jsonl'));
  expect(configuration.packs).toEqual(['**/*.jsonl']);
  expect(await listed()).toEqual(['starter-world', 'web-pages', 'written-by-hand']);
  expect(window.showInformationMessage).not.toHaveBeenCalled();
});

it('a pack of that name that was changed stays as it is, which is said', async () => {
  const { configuration, packs, at } = await workbench();
  const starter = new SamplePacks(Uri.file(root) as never, configuration as never, packs);
  await starter.add();
  const shorter = `${(await readFile(at('written-by-hand.jsonl'), 'utf8')).split('\n')[0]}\n`;
  await writeFile(at('written-by-hand.jsonl'), shorter);
  await starter.add();
  expect(await readFile(at('written-by-hand.jsonl'), 'utf8')).toBe(shorter);
  expect(window.showInformationMessage).toHaveBeenCalledWith(
    'Already here and left unchanged: written-by-hand.jsonl. They differ from the shipped packs.',
  );
});

const task = (id: string): string =>
  JSON.stringify({
    id,
    problem_description: 'Double it. def f(x)',
    ground_truth: 'def f(x):\n    return 2 * x',
    test_cases: { test1: 'f(1)' },
  });

describe('of several files', () => {
  /** Adds files of an outside folder. @returns the added files */
  async function added(files: Readonly<Record<string, string>>): Promise<string[]> {
    const { packs, listed } = await workbench();
    const elsewhere = await mkdtemp(path.join(tmpdir(), 'tandem-elsewhere-'));
    onTestFinished(() => rm(elsewhere, { recursive: true }));
    const paths = Object.keys(files).map((name) => path.join(elsewhere, name));
    for (const [index, content] of Object.values(files).entries()) await writeFile(paths[index]!, content);
    await new PackAdder(packs).add(paths);
    return listed();
  }

  it('those that are packs are added, and the others named, in one message', async () => {
    const files = { 'one.jsonl': task('a'), 'two.jsonl': '{"id": "b"}', 'three.jsonl': `${task('c')}\n7\n` };
    expect(await added(files)).toEqual(['one', 'three']);
    expect(window.showWarningMessage).toHaveBeenCalledTimes(1);
    const [sentence] = window.showWarningMessage.mock.calls[0]!;
    expect(sentence).toMatch(/^one\.jsonl .* three\.jsonl .* line 2: .* two\.jsonl is not a pack/);
  });
});
