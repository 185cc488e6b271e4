import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answers, asks } from '../../../fixtures/dialogue';
import { eventually } from '../../../fixtures/eventually';
import { segmentFiles } from '../../../fixtures/log';
import { right, Stage } from '../stage';

vi.mock('vscode', async () => {
  const editor = await import('../vscode');
  return {
    ...editor,
    env: { ...editor.env, clipboard: { writeText: () => Promise.resolve() } },
  };
});
const { WebviewPanel, window } = await import('../vscode');
const { SessionPanel } = await import('../../../../src/editor/session/panel');

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.set();
});
afterEach(() => stage.clear());

const lines = async (): Promise<string> =>
  (await Promise.all((await segmentFiles(stage.dataFolder)).map((file) => readFile(file, 'utf8')))).join('');

/** Opens a session on a real log in a panel; the test acts as its page. */
async function opened(...turns: string[]) {
  const session = await stage.begun(...turns);
  const panel = new WebviewPanel();
  const shown = vi.fn<(error: unknown) => void>();
  const pages = { addFrame: () => ({ dispose: () => undefined }) };
  const report = (error: unknown): void => stage.report(error);
  const engine = { report, show: shown, consent: stage.consent, pages };
  const on = {
    ...{ extension: '/extension' as never, drafts: stage.drafts },
    ...{ nextTask: vi.fn(), replay: vi.fn(), onDidChange: () => undefined },
  };
  new SessionPanel(panel as never, session, engine as never, on);
  await panel.say({ type: 'ready' });
  return {
    session,
    panel,
    drafts: on.drafts,
    posted: panel.posted,
    shown,
    say: (said: unknown) => panel.say(said),
  };
}

describe('a session', () => {
  it('does nothing that its page may not ask, and goes on with the next right message', async () => {
    const { session, shown, say } = await opened(asks('How heavy?'), answers(right));
    const before = await lines();
    for (const message of [
      ...['ready', { type: '__proto__' }, { type: 'skip', reason: 'x' }, { type: 'close' }],
      ...['logged', 'finished', 'toString'].map((action) => ({ type: 'act', action })),
    ])
      await say(message);
    expect(await lines()).toBe(before);
    expect(shown).not.toHaveBeenCalled();
    expect(session.state).toMatchObject({ phase: 'developer', turn: 1 });
    await say({ type: 'reply', draft: { text: 'Above 20 kg.' }, anyway: false });
    expect(session.state.phase).toBe('over');
  });

  it('asks who has not agreed to be logged for that before it asks why a task is skipped', async () => {
    const { say } = await opened(asks('How heavy?'));
    await stage.consent.forget();
    const before = await lines();
    const asked = vi.spyOn(window, 'showInformationMessage');
    const picked = vi.spyOn(window, 'createQuickPick');
    await say({ type: 'act', action: 'skip' });
    expect(asked.mock.calls).toEqual([[expect.stringMatching(/^A skip is logged/), 'Choose…']]);
    expect(picked).not.toHaveBeenCalled();
    expect(await lines()).toBe(before);
  });

  describe('whose page does not live to see its reply in the log', () => {
    const draft = { text: ' Above 20 kg. ' };
    const reply = { type: 'reply', draft, anyway: false };

    it('forgets the draft of the reply before the agent writes', async () => {
      const { session, drafts, say } = await opened(asks('How heavy?'), asks('Which zones?'));
      await say({ type: 'draft', draft });
      const slow = Promise.withResolvers<undefined>();
      const openAgent = stage.openAgent.bind(stage);
      stage.openAgent = () => slow.promise.then(() => openAgent());
      const said = say(reply);
      await eventually(async () => expect(await drafts.read(session.id!)).toEqual({ text: '' }));
      expect(session.state.phase).toBe('agent');
      await say({ type: 'draft', draft: { text: ' Above 20 kg. ' } });
      slow.resolve(undefined);
      await said;
      expect(session.state).toMatchObject({ phase: 'developer', turn: 2 });
      expect(await drafts.read(session.id!)).toEqual(draft);
    });

    it('forgets it when the page is closed', async () => {
      const { session, panel, drafts, say } = await opened(asks('How heavy?'), asks('Which zones?'));
      await say({ type: 'draft', draft });
      const said = say(reply);
      panel.dispose();
      await said;
      await session.settled();
      expect((await stage.trajectory(session.id)).turns[0]?.reply?.text).toBe('Above 20 kg.');
      await eventually(async () => expect(await drafts.read(session.id!)).toEqual({ text: '' }));
    });

    it('keeps the draft of a reply that is not logged', async () => {
      const { session, drafts, say } = await opened(asks('How heavy?'), asks('Which zones?'));
      await say({ type: 'draft', draft });
      const other = session.do({ type: 'dont-mind' });
      await Promise.all([say(reply), other]);
      expect(session.state).toMatchObject({ phase: 'developer', turn: 2 });
      expect(await drafts.read(session.id!)).toEqual(draft);
    });
  });

  it('takes a reply once that is sent twice', async () => {
    const { session, say } = await opened(asks('How heavy?'), asks('Which zones?'));
    const reply = { type: 'reply', draft: { text: 'Above 20 kg.' }, anyway: false };
    await Promise.all([say(reply), say(reply)]);
    await eventually(() => expect(session.state).toMatchObject({ phase: 'developer', turn: 2 }));
    expect(await lines()).toSatisfy((text: string) => text.split('"event":"reply"').length === 2);
    expect(stage.reported).toEqual([expect.objectContaining({ code: 'session/not-now' })]);
  });
});
