import assert from 'node:assert/strict';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { specOf } from '../../src/editor/servers';
import { configure, tandem, until } from './tandem';

const folder = (): string => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
const agent = (): string | undefined => vscode.workspace.getConfiguration('tandem').get('agent');

async function localNames(): Promise<string[]> {
  const nodes = await (await tandem()).models.getChildren();
  return nodes.flatMap((node) => (node.kind === 'model' ? [node.place.name] : []));
}

describe('Connected models in the extension host', () => {
  it('are sampled each by its own settings when two write candidates', async () => {
    const { engine } = await tandem();
    const first = {
      name: 'A',
      baseUrl: 'http://127.0.0.1:9/v1',
      model: 'a',
      sampling: { temperature: 0.25 },
    };
    const second = { ...first, name: 'B', model: 'b', sampling: { temperature: 0.75 } };
    await engine.servers.save(first);
    await engine.servers.save(second);
    await configure('agent', specOf(first));
    await configure('candidates.secondAgent', specOf(second));
    try {
      const other = await engine.openSecondAgent();
      assert.equal(other?.agent.name, specOf(second));
      assert.deepEqual([engine.sampling.temperature, other.sampling.temperature], [0.25, 0.75]);
    } finally {
      await configure('candidates.secondAgent', '');
      await configure('agent', 'starter');
      await vscode.workspace
        .getConfiguration('tandem')
        .update('servers', undefined, vscode.ConfigurationTarget.Global);
    }
  });
});

describe('The models view in the extension host, when files change', () => {
  it('shows what a run leaves, and that it is gone, without being asked', async () => {
    const { models } = await tandem();
    let changes = 0;
    const registration = models.onDidChangeTreeData(() => (changes += 1));
    const loop = path.join(folder(), '.tandem', 'loops', 'watched');
    const starter = (await models.getChildren()).find((node) => node.kind === 'model');
    assert.ok(starter);
    try {
      await cp(starter.place.folder, path.join(loop, 'model'), { recursive: true });
      await until('the view has changed', () => changes > 0);
      assert.ok((await localNames()).includes('watched/model'));
      changes = 0;
      await rm(loop, { recursive: true });
      await until('the view has changed again', () => changes > 0);
      assert.ok(!(await localNames()).includes('watched/model'));
    } finally {
      registration.dispose();
      await rm(loop, { recursive: true, force: true });
    }
  });

  it('makes a model the agent right after the settings were rewritten by another program', async () => {
    const settings = path.join(folder(), '.vscode', 'settings.json');
    const { models } = await tandem();
    const row = (await models.getChildren()).find(
      (node) => node.kind === 'model' && node.place.name === 'starter',
    );
    const document = await vscode.workspace.openTextDocument(settings);
    for (let round = 0; round < 5; round += 1) {
      await writeFile(settings, JSON.stringify({ 'tandem.agent': `script:agents/round-${round}.json` }));
      await vscode.commands.executeCommand('tandem.useAsAgent', row);
      await until(`the starter model is the agent in round ${round}`, () => agent() === 'starter');
      const written = JSON.parse(await readFile(settings, 'utf8')) as Record<string, unknown>;
      assert.equal(written['tandem.agent'], 'starter', `round ${round}`);
    }
    assert.equal(document.isDirty, false);
  });
});
