import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commands } from '../../src/editor/contributions';
import type { TaskNode } from '../../src/editor/tasks/tree';
import { closeEditors, tandem, until } from './tandem';

const row = (id: string, call = 'f(1)'): string =>
  JSON.stringify({
    id,
    problem_description: 'Double it. def f(x)',
    ground_truth: 'def f(x):\n    return 2 * x',
    test_cases: { test1: call },
  });

/** A file of the workspace, for one test. */
async function withFile(
  name: string,
  content: string,
  use: (file: vscode.Uri) => Promise<void>,
): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  assert.ok(folder);
  const file = vscode.Uri.joinPath(folder, name);
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
    for (const command of Object.values(commands)) assert.ok(registered.has(command), command);
  });

  it('lists the packs of the workspace with their tasks', async () => {
    const { tasks } = await tandem();
    const starter = await packNamed('starter');
    assert.ok(starter);
    const children = await tasks.getChildren(starter);
    assert.ok(children.length >= 24);
    const labels = children.map((child) => tasks.getTreeItem(child).label);
    assert.ok(labels.includes('Parcel surcharge'));
    assert.match(String(tasks.getTreeItem(starter).description), /^\d+ tasks/);
  });

  it('tells tasks of one title apart, in the list and in the session', async () => {
    const { panels } = await tandem();
    const world = await packNamed('starter-world');
    assert.ok(world?.kind === 'pack');
    const titles = world.pack.tasks.map(({ title }) => title);
    assert.equal(new Set(titles).size, titles.length);
    const second = world.pack.tasks.find(({ title }) => title.endsWith(' 2'));
    assert.ok(second, 'No title came twice.');
    const { shown } = await panels.openTask(second);
    assert.equal(shown.snapshot.task.title, second.title);
    await closeEditors();
  });

  it('finds a pack that is added, shows its bad lines, and opens the file at the line', async () => {
    const { tasks } = await tandem();
    await withFile('mixed.jsonl', `${row('one')}\n{"id": "two"}\nno JSON\n`, async (file) => {
      await until('the pack is listed', async () => (await packNamed('mixed')) !== undefined);
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
    await until('the pack is gone', async () => (await packNamed('mixed')) === undefined);
  });

  it('takes no other JSON lines for a pack', async () => {
    await withFile('events.jsonl', '{"event": "started"}\n', async () => {
      await withFile('later.jsonl', `${row('three')}\n`, async () => {
        await until(
          'a pack that came after it is listed',
          async () => (await packNamed('later')) !== undefined,
        );
        assert.equal(await packNamed('events'), undefined);
      });
    });
  });
});
