import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ModelNode } from '../../src/editor/models/tree';
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

  it('come and go in the view as the editor offers them', async () => {
    const { offer } = await provider();
    offer('three');
    await until('one is listed', async () => (await offered()).map(({ chat }) => chat.id).join() === 'three');
    offer('one', 'two');
    await until('two are listed', async () => (await offered()).length === 2);
  });

  it('play the agent, streaming, and what they write is tagged', async () => {
    const [row] = await offered();
    await vscode.commands.executeCommand('tandem.useAsAgent', row);
    const { agent } = { agent: vscode.workspace.getConfiguration('tandem').get<string>('agent') };
    assert.equal(agent, 'vscode:tandem-test/one');
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
    const log = await (await tandem()).engine.log();
    const reply = (await log.trajectory(shown.id ?? ''))?.turns[0]?.reply;
    assert.equal(reply?.text, 'Ten kilograms, I think. '.repeat(40).slice(0, 400));
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

  it('say in one sentence what went wrong, and what to do', async () => {
    const test = await provider();
    const { engine } = await tandem();
    const said = async (spec: string): Promise<string> => {
      const asked = engine.editorModels.model(spec).generate([{ role: 'user', content: 'Hi.' }], {
        temperature: 0,
        maxTokens: 5,
      });
      return asked.then(
        () => 'nothing',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
    };
    assert.match(
      await said('vscode:gone'),
      /offers no model “gone”\. It offers .*one.*; sign in .*choose another\.$/,
    );
    test.error = vscode.LanguageModelError.NoPermissions('no');
    assert.match(
      await said('vscode:tandem-test/one'),
      /^You have not allowed Tandem to use Test one\. .*Accounts menu\.$/,
    );
    test.error = vscode.LanguageModelError.Blocked('The quota is used up.');
    assert.match(await said('vscode:tandem-test/one'), /Test one takes no more requests for now: .*quota/);
    test.error = vscode.LanguageModelError.NotFound('no');
    assert.match(await said('vscode:tandem-test/one'), /does not offer Test one any more/);
    test.error = new Error('The network is down.');
    assert.match(
      await said('vscode:tandem-test/one'),
      /Test one, a model of the editor, has failed: .*network is down/,
    );
  });
});
