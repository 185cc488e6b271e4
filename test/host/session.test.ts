import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { documentUri } from '../../src/editor/documents';
import type { Trajectory } from '../../src/core/trajectory/trajectory';
import { startChatServer } from '../fixtures/chat-server';
import { pauseBeforeEnd } from '../fixtures/chat-server-replies';
import { closeEditors, configure, consent, openTask, starterTask, tandem, until } from './tandem';

const script = 'script:agents/asks-first.json';

async function trajectoryOf(id: string | undefined): Promise<Trajectory> {
  const log = await (await tandem()).engine.log();
  const trajectory = await log.trajectory(id ?? '');
  assert.ok(trajectory, 'The dialogue is not in the log.');
  return trajectory;
}

describe('A session in the extension host', () => {
  before(async () => {
    await (await tandem()).engine.consent.forget();
    await configure('agent', script);
  });
  after(() => configure('agent', 'starter'));
  afterEach(closeEditors);

  it('opens the reference beside it, as a document of Python that no file stands behind', async () => {
    await openTask('parcel-surcharge');
    const beside = vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'tandem');
    assert.ok(beside, 'No document stands beside the session.');
    assert.equal(beside.document.languageId, 'python');
    assert.match(beside.document.getText(), /^def parcel_price\(/);
    assert.notEqual(vscode.workspace.fs.isWritableFileSystem('tandem'), true);
  });

  it('logs nothing before the developer has agreed, and the consent before anything else', async () => {
    const { engine } = await tandem();
    const log = await engine.log();
    const { total } = log.list({ offset: 0, limit: 1 });
    const { shown } = await openTask('parcel-surcharge');
    await shown.do({ type: 'start' });
    assert.equal(log.list({ offset: 0, limit: 1 }).total, total);
    assert.ok(shown.state.consent, 'The session does not ask.');
    await shown.do({ type: 'start', consent: consent });
    assert.equal(shown.state.phase, 'developer');
    assert.deepEqual(
      log.consents.map(({ pseudonym }) => pseudonym),
      ['ada'],
    );
  });

  it('goes on with the same dialogue after its panel was closed', async () => {
    const first = await openTask('course-mark');
    await first.shown.do({ type: 'start', consent: consent });
    const { id } = first.shown;
    first.dispose();
    const second = await openTask('course-mark');
    assert.notEqual(second, first);
    assert.equal(second.shown.id, id);
    assert.equal(second.shown.state.phase, 'developer');
    await second.shown.do({ type: 'reply', draft: { text: 'The two worst marks are left out.' } });
    assert.equal(second.shown.snapshot.turns[0]?.reply?.by, 'you');
  });

  it('is played to its grade, which the tree and the log then show', async () => {
    const { tasks, engine } = await tandem();
    const { shown } = await openTask('parcel-surcharge');
    while (shown.state.phase === 'developer') await shown.do({ type: 'simulator-once' });
    assert.equal(shown.state.phase, 'over', shown.state.notice?.message);
    assert.match(shown.state.grade?.headline ?? '', /^\d+ of 10 tests passed$/);
    await until(
      'the tree shows the grade',
      async () => (await tasks.state(await starterTask('parcel-surcharge'))).kind === 'done',
    );
    const trajectory = await (await engine.log()).trajectory(shown.id ?? '');
    assert.equal(trajectory?.state, 'answered');
    assert.equal(trajectory.started.agent, script, 'The log names the agent as the settings do.');
  });

  it('brings a finished dialogue back to be read, with its transcript as Markdown', async () => {
    const { panels, tasks, trajectories } = await tandem();
    const state = await tasks.state(await starterTask('parcel-surcharge'));
    assert.ok(state.kind === 'done');
    const { shown } = await panels.openTrajectory(state.episode);
    assert.equal(shown.state.phase, 'over');
    const node = (await trajectories.getChildren()).find(
      (one) => one.kind === 'trajectory' && one.summary.id === state.episode,
    );
    await vscode.commands.executeCommand('tandem.openTranscript', node);
    const editor = vscode.window.activeTextEditor;
    assert.ok(editor, 'No transcript is shown.');
    assert.equal(editor.document.languageId, 'markdown');
    assert.match(
      editor.document.getText(),
      /# Parcel surcharge[\s\S]*### Agent, turn 1[\s\S]*10 tests passed/,
    );
  });

  it('gives the answer and the reference as documents to compare', async () => {
    const { tasks } = await tandem();
    const state = await tasks.state(await starterTask('parcel-surcharge'));
    assert.ok(state.kind === 'done');
    const { shown } = await openTask('parcel-surcharge');
    const place = { episode: state.episode };
    const answer = await vscode.workspace.openTextDocument(documentUri('answer', shown.task, place));
    assert.match(answer.getText(), /^def parcel_price\(/);
    const reference = await vscode.workspace.openTextDocument(documentUri('reference', shown.task, place));
    assert.equal(reference.getText().trim(), shown.task.reference.trim());
  });

  it('streams from a real server, and says which server is down when it is', async () => {
    const mayEnd = Promise.withResolvers<unknown>();
    const server = await startChatServer({
      reply: () => pauseBeforeEnd('Hm.\nOUTPUT:\nHow many guests are there?', mayEnd.promise),
    });
    await configure('agent', `openai:tiny@${server.url}`);
    try {
      const { shown } = await openTask('hotel-stay');
      const streamed: string[] = [];
      shown.onMessage((message) => {
        if (message.type === 'stream' && message.stream) streamed.push(message.stream.text);
      });
      const starting = shown.do({ type: 'start', consent: consent });
      await until(
        'its words come before its message ends',
        () => streamed.at(-1)?.includes('guests') === true,
      );
      assert.equal(shown.snapshot.turns.length, 0);
      mayEnd.resolve(undefined);
      await starting;
      assert.equal(shown.snapshot.turns[0]?.visible, 'How many guests are there?');
      await server.close();
      await configure('model.totalSeconds', 5);
      const replying = shown.do({ type: 'reply', draft: { text: 'Two.' } });
      await until('the server is asked again or given up', () => shown.state.phase !== 'developer');
      await shown.do({ type: 'stop' });
      await replying;
      assert.equal(shown.state.phase, 'stopped');
      assert.equal((await trajectoryOf(shown.id)).turns[0]?.reply?.text, 'Two.');
    } finally {
      await server.close();
      await configure('agent', script);
      await configure('model.totalSeconds', undefined);
    }
  });
});
