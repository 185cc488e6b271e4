import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fault } from '../../../../src/core/fault';
import { Session } from '../../../../src/editor/session/session';
import { bakery, pageOf, shows } from '../../../fixtures/pages';
import { scripted } from '../../../fixtures/dialogue';
import { ada, Stage } from '../stage';

let stage: Stage;
beforeEach(async () => (stage = await Stage.set()));
afterEach(() => stage.clear());

const pins = [{ of: 'draft', x: 0.5, y: 0.1, words: 'the title “Golden”' }] as const;

/** A session about a page whose agent sends these messages. */
async function begun(...turns: string[]): Promise<Session> {
  stage.agent = await scripted(stage.folder, turns);
  const session = Session.ofTask(stage, { task: bakery }, stage.drafts);
  await session.do({ type: 'start', consent: ada });
  return session;
}

describe('a session about a page', () => {
  it('shows the words of a message beside its page, under the limit of published replies', async () => {
    const { snapshot } = await begun(`OUTPUT:\nA draft:\n\`\`\`html\n${pageOf('Golden')}\n\`\`\``);
    expect(snapshot.task.wanted).toEqual({ html: bakery.reference });
    expect(snapshot.turns[0]).toMatchObject({ visible: 'A draft:', draft: { source: pageOf('Golden') } });
    expect(snapshot.state).toMatchObject({ phase: 'developer', replyLimit: 1000 });
    expect(snapshot.state.needsSimulator).toBeUndefined();
  });

  it('warns of a reply with HTML of the wanted page, and sends it anyway', async () => {
    stage.agent = await scripted(stage.folder, [shows('Golden'), shows('Golden Crust')]);
    const title = '<h1 class="text-3xl font-bold">Golden Crust</h1>';
    const task = { ...bakery, reference: `<html><body>${title}</body></html>` };
    const session = Session.ofTask(stage, { task }, stage.drafts);
    await session.do({ type: 'start', consent: ada });
    const messages = Stage.messagesOf(session);
    const draft = { text: `Write ${title} there` };
    await session.do({ type: 'reply', draft });
    const warning = messages.find(({ type }) => type === 'leak-warning');
    expect(warning).toMatchObject({ percent: 100, passages: [title] });
    await session.do({ type: 'reply', draft, anyway: true });
    expect((await stage.trajectory(session.id)).turns[0]!.leak).toMatchObject({ leaked: true });
  });

  it('is graded without the grader of functions', async () => {
    stage.grader = () => Promise.reject(new Error('not for pages'));
    const session = await begun(`OUTPUT:\nI WANT TO ANSWER:\n${pageOf('Golden Crust')}`);
    expect(session.state.grade?.page).toBeDefined();
  });

  it('logs the pins of a reply, grades by likeness and says what differs still', async () => {
    const session = await begun(
      shows('Golden Crust'),
      `OUTPUT:\nI WANT TO ANSWER:\n${pageOf('Golden Crust')}`,
    );
    await session.do({ type: 'reply', draft: { text: '[1] the title “Golden”: longer', pins } });
    const { turns, grades } = await stage.trajectory(session.id);
    expect(turns[0]!.reply).toMatchObject({ text: '[1] the title “Golden”: longer', pins });
    expect(turns[0]!.leak).toMatchObject({ leaked: false });
    expect(grades[0]!.grade).toMatchObject({ success: null, page: { measure: 'structure' } });
    expect(session.state).toMatchObject({ phase: 'over', grade: { tests: [] } });
    expect(session.state.grade!.debrief![0]!.text).toContain('There should be');
    const reloaded = Session.ofTrajectory(stage, await stage.trajectory(session.id), {}, stage.drafts);
    await reloaded.do({ type: 'compare-pages' });
    expect(reloaded.state.grade).toEqual(session.state.grade);
  });

  it('suggests a reply by the differences of the pages', async () => {
    const session = await begun(shows('Golden Crust'));
    const messages = Stage.messagesOf(session);
    await session.do({ type: 'suggest' });
    expect(messages.find(({ type }) => type === 'suggestion')).toMatchObject({
      suggestion: { text: expect.stringContaining('There should be') as string, by: 'rules' },
    });
  });

  it('is not gradable where nothing draws pages, with the reason', async () => {
    const missing = new Fault('page/no-browser', 'No browser was found.');
    stage.pages = {
      sheet: '',
      name: () => Promise.reject(missing),
      outlineOf: () => Promise.reject(missing),
    };
    const session = await begun(`OUTPUT:\nI WANT TO ANSWER:\n${pageOf('Golden')}`);
    expect(session.state.grade).toMatchObject({
      headline: 'This answer cannot be graded here: No browser was found.',
    });
    expect(stage.reported).toEqual([]);
  });
});
