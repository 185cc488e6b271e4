import assert from 'node:assert/strict';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { useUri } from '../../src/editor/documents';
import { specOf, type Server } from '../../src/editor/models/server';
import type { ModelNode } from '../../src/editor/models/tree';
import { startChatServer } from '../fixtures/chat-server';
import { answer } from '../fixtures/chat-server-replies';
import { closeEditors, configure, consent, openTask, tandem, until } from './tandem';

type ServerRow = Extract<ModelNode, { kind: 'server' }>;

const folder = (): string => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
const agent = (): string | undefined => vscode.workspace.getConfiguration('tandem').get('agent');

async function rows(): Promise<ServerRow[]> {
  const nodes = await (await tandem()).models.getChildren();
  return nodes.filter((node) => node.kind === 'server');
}

async function localNames(): Promise<string[]> {
  const nodes = await (await tandem()).models.getChildren();
  return nodes.flatMap((node) => (node.kind === 'model' ? [node.place.name] : []));
}

describe('Connected models in the extension host', () => {
  afterEach(async () => {
    await closeEditors();
    await configure('agent', 'starter');
    await vscode.workspace
      .getConfiguration('tandem')
      .update('servers', undefined, vscode.ConfigurationTarget.Global);
  });

  it('keep the key in the secret storage, play with it, and count what they write', async () => {
    const turn = 'Hm.\nOUTPUT:\nHow many?';
    const server = await startChatServer({ reply: () => answer(turn), key: 'sk-host-secret' });
    const { engine } = await tandem();
    const there: Server = {
      name: 'Lab',
      baseUrl: server.url,
      model: 'tiny',
      sampling: { temperature: 0.25 },
      price: { prompt: 1, completion: 2 },
    };
    try {
      await engine.servers.save(there);
      const [row] = await rows();
      assert.equal(row?.row.state.kind, 'untested');
      await engine.servers.setKey(server.url, 'sk-host-secret');
      assert.equal((await engine.servers.test(there)).works, true);
      assert.equal((await rows())[0]?.row.state.kind, 'works');
      await vscode.commands.executeCommand('tandem.useAsAgent', row);
      assert.equal(agent(), specOf(there));
      assert.equal(engine.calledBy(specOf(there)), 'Lab');
      const { shown } = await openTask('stock-valuation');
      await shown.do({ type: 'start', consent: consent });
      assert.equal(shown.snapshot.turns[0]?.visible, 'How many?', shown.state.notice?.message);
      assert.equal(server.requests.at(-1)?.body.temperature, 0.25);
      await vscode.commands.executeCommand('tandem.showUse');
      const shownUse = vscode.window.activeTextEditor?.document;
      assert.equal(shownUse?.uri.toString(), useUri.toString());
      assert.match(
        shownUse.getText(),
        /\| Lab \(openai:tiny@\S+\) +\| +1 \| +0 \| +7 \| +\d+ \| +\$0\.0000\d+ \|/,
      );
      const settings = await readFile(path.join(folder(), '.vscode', 'settings.json'), 'utf8');
      assert.doesNotMatch(settings, /sk-host-secret/);
      await vscode.commands.executeCommand('tandem.removeModel', (await rows())[0]);
      assert.equal((await rows()).length, 1, 'The agent could be removed.');
      await configure('agent', 'starter');
      await vscode.commands.executeCommand('tandem.removeModel', (await rows())[0]);
      assert.deepEqual(await rows(), []);
    } finally {
      await server.close();
    }
  });

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
    }
  });

  it('that were written by hand and cannot be used are told in the view', async () => {
    await vscode.workspace
      .getConfiguration('tandem')
      .update('servers', [{ name: 'x' }], vscode.ConfigurationTarget.Global);
    const nodes = await (await tandem()).models.getChildren();
    const problem = nodes.find((node) => node.kind === 'problem');
    assert.match(problem?.sentence ?? '', /^Entry 1 of tandem\.servers cannot be used\./);
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
