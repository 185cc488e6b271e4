import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ModelNode } from '../../src/editor/models/items';
import { closeEditors, configure, consent, openTask, tandem, until } from './tandem';

/** API of the extension in test/fixtures/editor-models. */
interface Provider {
  requests: string[][];
  cancelled: number;
  pieces: string[];
  error: Error | undefined;
  hangs: boolean;
  readonly offer: (...ids: string[]) => void;
}

type EditorRow = Extract<ModelNode, { kind: 'editorModel' }>;

async function provider(): Promise<Provider> {
  const extension = vscode.extensions.getExtension<Provider>('tandem-test.editor-models');
  assert.ok(extension, 'The extension that offers models is not loaded.');
  return extension.activate();
}

async function offered(): Promise<EditorRow[]> {
  const nodes = await (await tandem()).models.getChildren();
  return nodes.filter((node) => node.kind === 'editorModel');
}

describe('The models of the editor in the extension host', () => {
  before(async () => {
    await (await tandem()).engine.consent.forget();
    (await provider()).offer('one', 'two');
    await until('the models are listed', async () => (await offered()).length === 2);
  });
  afterEach(async () => {
    await closeEditors();
    const pieces = ['I wonder.\n', 'OUTPUT:\n', 'How heavy is ', 'heavy?'];
    Object.assign(await provider(), { error: undefined, hangs: false, requests: [], pieces });
    await configure('agent', 'starter');
    await configure('simulator', 'rules');
  });
  after(async () => {
    // Other suites play the same tasks and expect no dialogues about them.
    const log = await (await tandem()).engine.log();
    await log.delete(log.list({ offset: 0, limit: 100 }).rows.map(({ id }) => id));
    (await provider()).offer();
    await until('no model is listed', async () => (await offered()).length === 0);
  });

  it('play the agent, streaming, and what they write is tagged', async () => {
    const [row] = await offered();
    await vscode.commands.executeCommand('tandem.useAsAgent', row);
    assert.equal(vscode.workspace.getConfiguration('tandem').get('agent'), 'vscode:tandem-test/one');
    assert.deepEqual((await offered())[0]?.row.roles, ['agent']);
    const { shown } = await openTask('parcel-surcharge');
    const streamed: string[] = [];
    shown.onMessage((message) => {
      if (message.type === 'stream' && message.stream) streamed.push(message.stream.text);
    });
    await shown.do({ type: 'start', consent: consent });
    assert.equal(shown.snapshot.turns[0]?.visible, 'How heavy is heavy?', shown.state.notice?.message);
    assert.ok(streamed.length > 0, 'Nothing streamed.');
    const [request] = (await provider()).requests;
    assert.match(request?.[0] ?? '', /parcel_price/);
    const log = await (await tandem()).engine.log();
    const trajectory = await log.trajectory(shown.id ?? '');
    assert.equal(trajectory?.turns[0]?.agent.terms, 'editor');
    assert.equal(trajectory.turns[0].agent.model, 'vscode:tandem-test/one');
    assert.equal((await log.modelUse())['vscode:tandem-test/one']?.turns, 1);
  });

  it('play the simulator, by their family too, and what they reply is tagged', async () => {
    await configure('agent', 'script:agents/asks-first.json');
    await configure('simulator', 'vscode:test-family');
    const { shown } = await openTask('hotel-stay');
    await shown.do({ type: 'start', consent: consent });
    await shown.do({ type: 'simulator-once' });
    const log = await (await tandem()).engine.log();
    const reply = (await log.trajectory(shown.id ?? ''))?.turns[0]?.reply;
    assert.equal(reply?.by, 'vscode:test-family');
    assert.equal(reply.terms, 'editor');
  });

  it('are stopped when they ramble as the simulator', async () => {
    const test = await provider();
    test.hangs = true;
    test.pieces = ['Ten kilograms, I think. '.repeat(40), 'And on.'];
    const before = test.cancelled;
    await configure('agent', 'script:agents/asks-first.json');
    await configure('simulator', 'vscode:tandem-test/two');
    const { shown } = await openTask('stock-valuation');
    await shown.do({ type: 'start', consent: consent });
    await shown.do({ type: 'simulator-once' });
    await until('the model was told', () => test.cancelled === before + 1);
  });

  it('are stopped when the person stops them', async () => {
    const test = await provider();
    test.hangs = true;
    const before = test.cancelled;
    await configure('agent', 'vscode:tandem-test/two');
    const { shown } = await openTask('course-mark');
    const starting = shown.do({ type: 'start', consent: consent });
    await until('the model is asked', () => test.requests.length > 0);
    await shown.do({ type: 'stop' });
    await starting;
    assert.equal(shown.state.phase, 'stopped');
    await until('the model was told', () => test.cancelled === before + 1);
  });

  it('fail with a code for each error of the editor', async () => {
    const test = await provider();
    const { engine } = await tandem();
    const fails = (spec: string, code: string): Promise<void> => {
      const messages = [{ role: 'user', content: 'Hi.' }] as const;
      const asked = engine.editorModels.model(spec).generate(messages, { temperature: 0, maxTokens: 5 });
      return assert.rejects(asked, { code });
    };
    await fails('vscode:gone', 'model/unknown-model');
    for (const [error, code] of [
      [vscode.LanguageModelError.NoPermissions('no'), 'model/unauthorized'],
      [vscode.LanguageModelError.Blocked('The quota is used up.'), 'model/rate-limited'],
      [vscode.LanguageModelError.NotFound('no'), 'model/unknown-model'],
      [new Error('The network is down.'), 'model/server-error'],
      [new Error('Message exceeds token limit.'), 'model/too-long'],
      [new Error('Response got filtered.'), 'model/filtered'],
    ] as const) {
      test.error = error;
      await fails('vscode:tandem-test/one', code);
    }
  });
});
