import { expect, it, vi } from 'vitest';
import { pageDrawer, wordsAndPage } from '../../../src/views/pageViews';
import { judgingView } from '../../../src/editor/judging/panel';
import { replayOf } from '../../../src/editor/replay/view';
import { english } from '../../../src/editor/translate';
import { transcriptOf } from '../../../src/editor/trajectories/transcript';
import { openLog } from '../../fixtures/log';
import { bakeryPage, pin, playPage } from '../../fixtures/pageDialogue';

vi.mock('vscode', () => import('../editor/vscode'));

const draw = (html: string) => ({ html: `clean ${html.length}` });
const namer = { calledBy: (name: string) => name };

it.each([
  ['words around a page', 'OUTPUT:\nHere.\n<!DOCTYPE html>\n<html>x</html>\nGood?', 'Here.\n\nGood?'],
  ['a fence', 'OUTPUT:\nHere.\n```html\n<html>x</html>\n```\nGood?', 'Here.\n\nGood?'],
  ['an answer', 'Done.\nOUTPUT:\nI WANT TO ANSWER:\n<html>x</html>', ''],
])('takes the page out of a message with %s', (_, text, words) => {
  expect(wordsAndPage(text)).toEqual({ words, source: '<html>x</html>' });
});

it('leaves a message without a whole page as it is', () => {
  expect(wordsAndPage('OUTPUT:\nHere: <html>')).toEqual({ words: 'Here: <html>' });
});

it('says why a page is not drawn', () => {
  expect(pageDrawer('/none')('x'.repeat(200_001))).toEqual({
    problem: expect.stringContaining('more than 200000 characters') as string,
  });
});

it('shows a page dialogue by its drafts, pins and scores', async () => {
  const log = await openLog();
  await playPage(log, 'e');
  const trajectory = (await log.trajectory('e'))!;
  const replay = replayOf(trajectory, 'ada', english, 'en', draw);
  expect(replay).toMatchObject({ outcome: 'page, 1.00', canContinue: true });
  expect(replay.verdict).toBeUndefined();
  expect(replay.turns[0]).toMatchObject({ visible: 'A first draft.', reply: { pins: [pin] } });
  expect(replay.turns[0]?.draft?.page).toHaveProperty('html');
  expect(replay.grades[0]).toMatchObject({
    ...{ headline: 'Score 1.00', tests: [] },
    page: { measure: 'structure, version 1', drafts: [{ turn: 1, score: 0.45 }, {}, {}] },
  });
  expect(judgingView(trajectory, 'ada', namer as never, english, draw).wanted).toEqual(
    draw(bakeryPage.reference),
  );
  const transcript = transcriptOf(trajectory, english, namer);
  expect(transcript).toContain('```html\n<html>');
  expect(transcript).toContain('- each draft: turn 1: 0.45, turn 2: 0.88, turn 3: 1.00');
  expect(transcript).not.toMatch(/tests?\b/);
});
