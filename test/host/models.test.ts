import assert from 'node:assert/strict';
import path from 'node:path';
import * as vscode from 'vscode';
import { isRunning } from '../../src/core/trajectory/running';
import type { ModelNode } from '../../src/editor/models/tree';
import type { ListedTask } from '../../src/editor/tasks/packs';
import { closeEditors, configure, consent, tandem, until } from './tandem';

type ModelRow = Extract<ModelNode, { kind: 'model' }>;

async function models(): Promise<ModelRow[]> {
  const nodes = await (await tandem()).models.getChildren();
  return nodes.filter((node) => node.kind === 'model');
}

async function modelNamed(name: string): Promise<ModelRow> {
  const node = (await models()).find(({ place }) => place.name === name);
  assert.ok(node, `The view does not list ${name}.`);
  return node;
}

async function stateOf(name: string): Promise<string> {
  return (await modelNamed(name)).row.state.kind;
}

async function firstOfTheWorld(): Promise<ListedTask> {
  const pack = (await (await tandem()).packs.all()).find(({ name }) => name === 'starter-world');
  assert.ok(pack?.tasks[0], 'The workspace has no tasks of the starter world.');
  return pack.tasks[0];
}

/** Returns the shared libraries that this process has loaded. */
function sharedObjects(): string[] {
  const report = process.report.getReport() as unknown as { sharedObjects: string[] };
  return report.sharedObjects;
}

describe('The models view in the extension host', () => {
  afterEach(closeEditors);

  it('shows how fast the agent wrote, whose process ends when another agent is chosen', async () => {
    const { panels } = await tandem();
    const { shown } = await panels.openTask(await firstOfTheWorld());
    await shown.do({ type: 'start', consent: consent });
    assert.ok(shown.snapshot.turns[0]?.visible, shown.state.notice?.message);
    await until(
      'the speed is shown',
      async () => (await modelNamed('starter')).row.tokensPerSecond !== undefined,
    );
    const { state } = (await modelNamed('starter')).row;
    assert.ok(state.kind === 'ready' && state.processId !== undefined);
    const { processId } = state;
    assert.deepEqual(
      sharedObjects().filter((file) => file.includes('onnxruntime')),
      [],
      'The extension host has loaded ONNX Runtime.',
    );

    await configure('agent', 'script:agents/asks-first.json');
    await until('the process is gone', () => !isRunning(processId));
    assert.equal(await stateOf('starter'), 'not-loaded');
    await configure('agent', 'starter');
  });

  it('makes a model the agent under a name without paths of this machine', async () => {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
    await configure('modelFolders', [path.join('models', 'mine')]);
    try {
      const node = await modelNamed('mine');
      assert.equal(node.place.folder, path.join(folder, 'models', 'mine'));
      await vscode.commands.executeCommand('tandem.useAsAgent', node);
      assert.equal(vscode.workspace.getConfiguration('tandem').get('agent'), 'local:models/mine');
      assert.deepEqual((await modelNamed('mine')).row.roles, ['agent']);
    } finally {
      await configure('agent', 'starter');
      await configure('modelFolders', undefined);
    }
  });
});
