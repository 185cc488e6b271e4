import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { TaskNode } from '../../src/editor/tasks/items';
import { closeEditors, configure, starterTask, tandem, until } from './tandem';

const row = (id: string, call = 'f(1)'): string =>
  JSON.stringify({
    id,
    problem_description: 'Double it. def f(x)',
    ground_truth: 'def f(x):\n    return 2 * x',
    test_cases: { test1: call },
  });

function inWorkspace(name: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  assert.ok(folder);
  return vscode.Uri.joinPath(folder, name);
}

/** Creates a file in the workspace for one test. */
async function withFile(
  name: string,
  content: string,
  use: (file: vscode.Uri) => Promise<void>,
): Promise<void> {
  const file = inWorkspace(name);
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(content));
  try {
    await use(file);
  } finally {
    await vscode.workspace.fs.delete(file);
  }
}

async function packNamed(name: string): Promise<TaskNode | undefined> {
  const { tasks } = await tandem();
  return (await tasks.getChildren()).find((node) => node.kind === 'pack' && node.pack.name === name);
}

describe('The tasks view in the extension host', () => {
  it('stands on commands that are all registered', async () => {
    await tandem();
    const registered = new Set(await vscode.commands.getCommands(true));
    const extension = vscode.extensions.getExtension('tandem.tandem');
    assert.ok(extension);
    const { contributes } = extension.packageJSON as {
      readonly contributes: { readonly commands: readonly { readonly command: string }[] };
    };
    for (const { command } of contributes.commands) assert.ok(registered.has(command), command);
  });

  it('finds a pack that is added, but no other JSON lines, and opens its file at a bad line', async () => {
    const { tasks } = await tandem();
    await writeFile(inWorkspace('events.jsonl').fsPath, '{"event": "started"}\n');
    await withFile('mixed.jsonl', `${row('one')}\n{"id": "two"}\nno JSON\n`, async (file) => {
      await until('the pack is listed', async () => (await packNamed('mixed')) !== undefined);
      assert.equal(await packNamed('events'), undefined);
      const pack = await packNamed('mixed');
      const bad = (await tasks.getChildren(pack)).filter((node) => node.kind === 'bad');
      assert.deepEqual(
        bad.map((node) => tasks.getTreeItem(node).label),
        ['Line 2', 'Line 3'],
      );
      const { command } = tasks.getTreeItem(bad[0]!);
      assert.ok(command);
      await vscode.commands.executeCommand(command.command, ...((command.arguments ?? []) as unknown[]));
      const editor = vscode.window.activeTextEditor;
      assert.equal(editor?.document.uri.fsPath, file.fsPath);
      assert.equal(editor.selection.active.line, 1);
    });
    await rm(inWorkspace('events.jsonl').fsPath);
    await until('the pack is gone', async () => (await packNamed('mixed')) === undefined);
  });

  it('shows a pack of ten thousand tasks in pages', async () => {
    const { tasks } = await tandem();
    const rows = Array.from({ length: 10_000 }, (_, index) => row(`task-${index}`, `f(${index})`));
    await withFile('large.jsonl', rows.join('\n'), async () => {
      await until('the pack is listed', async () => (await packNamed('large')) !== undefined);
      const pack = await packNamed('large');
      assert.match(String(tasks.getTreeItem(pack!).description), /^10000 tasks/);
      assert.equal((await tasks.getChildren(pack)).length, 201);
      const more = (await tasks.getChildren(pack)).at(-1);
      assert.equal(tasks.getTreeItem(more!).description, '9,800 not shown');
      await vscode.commands.executeCommand('tandem.showMore', more);
      assert.equal((await tasks.getChildren(pack)).length, 401);
    });
    await until('the pack is gone', async () => (await packNamed('large')) === undefined);
  });
});

/** Creates files outside of the workspace for one test. */
async function outside(files: Readonly<Record<string, string>>, use: (folder: string) => Promise<void>) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-packs-'));
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('Packs that are added', () => {
  afterEach(async () => {
    for (const name of ['given.jsonl', 'given.guidelines.md']) {
      await vscode.workspace.fs.delete(inWorkspace(name)).then(undefined, () => undefined);
    }
    await until('they are gone', async () => (await packNamed('given')) === undefined);
  });

  it('come with their guidelines when they are dropped by their address', async () => {
    const { drop } = await tandem();
    const files = { 'given.jsonl': `${row('one')}\n${row('two')}\n`, 'given.guidelines.md': '# Be exact' };
    await outside(files, async (folder) => {
      const data = new vscode.DataTransfer();
      const address = vscode.Uri.file(path.join(folder, 'given.jsonl')).toString();
      data.set('text/uri-list', new vscode.DataTransferItem(`# a comment\r\n${address}\r\n`));
      await drop.handleDrop(undefined, data);
    });
    const pack = await packNamed('given');
    assert.ok(pack?.kind === 'pack');
    assert.equal(pack.pack.tasks.length, 2);
    await vscode.workspace.fs.stat(inWorkspace('given.guidelines.md'));
  });

  it('never overwrite another file, and may be added twice', async () => {
    const { adder } = await tandem();
    await outside({ 'given.jsonl': `${row('one')}\n` }, async (folder) => {
      const file = path.join(folder, 'given.jsonl');
      await adder.add([file]);
      await adder.add([file]);
      await writeFile(file, `${row('another')}\n`);
      await assert.rejects(adder.add([file]), { code: 'editor/pack-exists' });
    });
    const pack = await packNamed('given');
    assert.ok(pack?.kind === 'pack');
    assert.equal(pack.pack.tasks[0]?.id, 'one');
  });

  it('are not listed where the setting leaves them out, which is said', async () => {
    const { adder } = await tandem();
    await configure('packs', ['packs/*.jsonl']);
    try {
      await outside({ 'given.jsonl': `${row('one')}\n` }, async (folder) => {
        const file = path.join(folder, 'given.jsonl');
        await assert.rejects(adder.add([file]), { code: 'editor/pack-not-listed' });
      });
    } finally {
      await configure('packs', undefined);
    }
  });
});

describe('The guidelines of a pack', () => {
  const shown = (): vscode.Tab[] =>
    vscode.window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .filter(
        ({ input }) => input instanceof vscode.TabInputCustom && input.viewType.includes('markdown.preview'),
      );

  afterEach(closeEditors);

  it('open beside the first task of it that is played, and not again', async () => {
    const { panels } = await tandem();
    await configure('session.openGuidelines', true);
    try {
      await panels.openTask(await starterTask('course-mark'));
      await until('they are shown', () => shown().length === 1);
      assert.match(shown()[0]!.label, /written-by-hand\.guidelines\.md/);
      assert.equal(shown()[0]!.group.viewColumn, vscode.ViewColumn.Two);
      await until('the session has the focus', () => panels.active?.shown.task.id === 'course-mark');
      await closeEditors();
      await panels.openTask(await starterTask('hotel-stay'));
      assert.deepEqual(shown(), []);
    } finally {
      await configure('session.openGuidelines', undefined);
    }
  });
});
