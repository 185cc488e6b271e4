import { access, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { Dialogue } from '../../src/core/dialogue/dialogue';
import { colBenchProtocol } from '../../src/core/dialogue/protocol';
import { RulesSimulator } from '../../src/core/dialogue/simulator';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { asks, scripted, shippedPrompts, starterTask } from '../fixtures/dialogue';
import { PublishingHub } from '../fixtures/publishing-hub';
import { collectLog } from '../fixtures/trainer';
import { accessiblePictures, expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { alsoSelect, chooseInMenu, openRow, pressChord, pressInRow, pressKey } from './rows';
import { allThemes } from './themes';

const hub = await PublishingHub.start();
let workspace: string;
let workbench: WorkbenchDriver;

const replay = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Dialogues' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const quickInput = (): Locator => workbench.quickInput.widget;

/** Opens the replay of a dialogue while no editor is open. */
const openReplay = (dialogue: Locator): Promise<void> =>
  openRow(dialogue, replay().getByRole('heading', { level: 1 }).first());

async function press(name: string): Promise<void> {
  await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name }).click();
}

/** Presses a button of a notification. */
async function answer(sentence: RegExp, name: string): Promise<void> {
  await (await workbench.notification(sentence)).getByRole('button', { name, exact: true }).click();
}

/** Takes accessible pictures in every theme and in a narrow window. */
async function pictures(name: string): Promise<void> {
  await workbench.clearNotifications();
  await accessiblePictures(workbench, replay(), name, allThemes);
  await workbench.setSize(700, 800);
  await workbench.screenshot(`${name}-narrow`);
  await expectAccessible(replay());
  await workbench.setSize(1280, 800);
}

/** Creates the log: two agents play six tasks; a developer plays and rates one of them, and leaves another one open. */
beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-trajectories-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  const data = path.join(workspace, '.tandem');
  await collectLog(data);
  await playByHand(data);
  workbench = await startWorkbench({
    ...{ extension: root, workspace },
    environment: { HF_ENDPOINT: hub.url },
  });
  await workbench.showTandem();
  await tree().getByRole('treeitem').first().waitFor();
  // The tree draws only the rows that fit, so the other views are closed.
  await workbench.openViews('Dialogues');
});

afterAll(async () => {
  await workbench.close();
  await hub.close();
  await rm(workspace, { recursive: true, force: true });
});

beforeEach(() => workbench.closeAllEditors());

const rules = new RulesSimulator();

/** Returns the parts of ada's dialogue about the first task. @param asked the agent's questions before its answer */
async function partsOf(log: TrajectoryLog, asked: readonly string[]) {
  const task = await starterTask();
  return {
    log,
    agent: await scripted(workspace, [
      ...asked.map((question) => asks(question)),
      `OUTPUT:\nI WANT TO ANSWER:\n${task.reference}`,
    ]),
    simulator: rules,
    prompts: await shippedPrompts(),
    sampling: { temperature: 1, maxTokens: 500 },
    task,
    pack: 'written-by-hand.jsonl',
    collaborator: { kind: 'developer', name: 'ada' } as const,
    protocol: colBenchProtocol,
  };
}

const secret = ['ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('');

/** Logs a dialogue in which ada writes a secret, as another process does. */
async function tellASecret(data: string): Promise<void> {
  const log = await TrajectoryLog.open(data);
  const parts = await partsOf(log, ['How do I log in?']);
  const dialogue = await Dialogue.start({ ...parts, pack: 'another.jsonl', seed: 3 });
  await dialogue.agentTurn();
  await dialogue.reply(`Log in with ${secret}`, { author: 'developer', by: 'ada' });
  await dialogue.agentTurn();
  await log.close();
}

async function playByHand(data: string): Promise<void> {
  const log = await TrajectoryLog.open(data);
  const parts = await partsOf(log, [
    'At how many kilograms is a parcel **heavy**?',
    'How big is the supplement?',
    'What should come out for a zone that does not exist?',
  ]);
  await log.append({ event: 'consent', pseudonym: 'ada', purpose: 'a study of questions', level: 'export' });
  const left = await Dialogue.start({ ...parts, seed: 1 });
  await left.agentTurn();
  const played = await Dialogue.start({ ...parts, seed: 2 });
  const rival = { agent: await scripted(workspace, [asks('Which currency?')]), sampling: parts.sampling };
  await played.drawCandidates({ rival });
  const asked = played.candidates!.candidates[0].agent === parts.agent.name ? 0 : 1;
  await played.choose(asked, { by: 'ada', milliseconds: 12_000 });
  await played.anotherSample();
  await log.append({
    event: 'turn-rating',
    episode: played.id,
    turn: 1,
    thumb: 'up',
    comment: 'To the point.',
    by: 'ada',
  });
  await played.reply('Above 20 kilograms.', { author: 'developer', by: 'ada', milliseconds: 42_000 });
  await played.agentTurn();
  await played.reply(`It is 4.50, as here: ${parts.task.reference}`, {
    author: 'developer-edited-suggestion',
    by: 'ada',
    suggestion: 'The supplement is 4.50.',
    milliseconds: 9000,
  });
  await played.agentTurn();
  await played.handOver({ kind: rules.kind, name: rules.name }, rules);
  await played.play();
  await log.append({ event: 'rating', episode: played.id, stars: 4, comment: 'Good questions.', by: 'ada' });
  await log.close();
}

test('a filter goes back to its first list, says so in its row, and is cleared there', async () => {
  await workbench.runCommand('Tandem: Filter Dialogues…');
  await workbench.quickInput.pick('Outcome');
  await workbench.quickInput.pick('failed a test');
  await quickInput().getByText('Filter Dialogues: ').waitFor();
  await workbench.quickInput.pick('Outcome');
  // The list before has this text in its row of outcomes, too.
  await quickInput().getByText('Filter by Outcome').waitFor();
  await quickInput().locator('.monaco-list-row.focused', { hasText: 'failed a test' }).waitFor();
  await workbench.quickInput.dismiss();
  await quickInput().getByText('Filter Dialogues: ').waitFor();
  await workbench.quickInput.pick('Agent');
  await workbench.quickInput.pick('guesses.json');
  await quickInput().getByText('Filter Dialogues: 6 dialogues').waitFor();
  await workbench.quickInput.dismiss();
  const filter = row(/^Filter: failed a test · agent guesses, 6 of 14 dialogues$/);
  await filter.waitFor();
  await expect.poll(() => tree().getByRole('treeitem').count()).toBe(7);
  await pressInRow(filter, 'Clear Dialogue Filter', row(/^Played, 2/));
  await filter.waitFor({ state: 'detached' });
  await workbench.runCommand('Tandem: Group Dialogues By…');
  await workbench.quickInput.pick('None');
  await expect.poll(() => tree().getByRole('treeitem').count()).toBe(14);
  await workbench.runCommand('Tandem: Group Dialogues By…');
  await workbench.quickInput.pick('Source');
  await row(/^Played, 2$/).waitFor();
});

test('a search in dialogues shows who said the words, and opens the replay at that turn', async () => {
  await pressKey(tree(), 'Control+Alt+f', quickInput().getByText('Search Dialogues'));
  await quickInput().getByRole('textbox').fill('zone exist');
  const found = quickInput()
    .locator('.monaco-list-row', { hasText: /Parcel.surcharge/ })
    .first();
  await found.filter({ hasText: /agent,.turn/ }).waitFor();
  await found.filter({ hasText: /What.should.come.out.for.a.zone.that.does.not.exist/ }).waitFor();
  await workbench.screenshot('trajectories-search');
  await workbench.quickInput.pick(/Parcel.surcharge/);
  const turn = replay().locator('.played:focus', {
    hasText: 'What should come out for a zone that does not exist?',
  });
  await turn.waitFor();
  expect(await turn.getAttribute('aria-label')).toBe('Turn 3');
  expect(await turn.evaluate(() => CSS.highlights.get('found')?.size)).toBe(2);
  await pictures('trajectories-search-opened');
  // Here the list does not have the focus.
  const search = quickInput().getByText('Search Dialogues');
  await pressChord(workbench.page, ['Control+K', 'Control+Alt+F'], search);
  await quickInput().getByRole('textbox').fill('lighthouse');
  await quickInput().getByText('No message and no note has all of these words: lighthouse').waitFor();
  await workbench.quickInput.dismiss();
});

test('a replay fits a narrow editor and is readable in every theme', async () => {
  await openRow(
    row(/^Parcel surcharge, not graded yet/),
    replay().getByRole('heading', { name: 'Parcel surcharge' }),
  );
  await replay().getByText('the suggestion').click();
  await replay().getByText('The supplement is 4.50.', { exact: true }).waitFor();
  await replay()
    .getByText(/candidate [AB] \(/)
    .click();
  await replay().getByText('Which currency?').waitFor();
  await replay().getByText('collaborator: ada, Simulator (rules)').waitFor();
  await pictures('trajectories-replay');
  await replay().getByRole('button', { name: 'Details' }).click();
  await replay().getByText('Seed').waitFor();
  await pictures('trajectories-replay-details');
  await replay().getByRole('button', { name: 'open as Markdown' }).click();
  await workbench.page.getByRole('tab', { name: /parcel-surcharge\.dialogue\.md/ }).waitFor();
});

test('failures are replayed by key one after the other, as the list has them', async () => {
  const { keyboard } = workbench.page;
  const title = (name: string): Locator => replay().getByRole('heading', { level: 1, name });
  // With no replay open, the key leads to the first failure: the dialogues that were played have none.
  await row(/^Played, /).click();
  await pressKey(tree(), 'F8', replay().getByRole('button', { name: 'next failure' }));
  // The click has folded the group.
  await openRow(row(/^Played, /), row(/^Parcel surcharge, in progress/));
  const failed = tree().getByRole('treeitem', { name: /, \d\/10 tests/ });
  const labels = await failed.evaluateAll((rows) => rows.map((one) => one.getAttribute('aria-label')));
  const [first, second] = labels.map((label) => label!.split(',')[0]!);
  await openRow(failed.first(), title(first!));
  await keyboard.press('F8');
  await title(second!).waitFor();
  await expect.poll(() => failed.nth(1).getAttribute('aria-selected')).toBe('true');
  await keyboard.press('Shift+F8');
  await title(first!).waitFor();
  await workbench.pictures('trajectories-replay-simulator', allThemes);
});

test('a dialogue is deleted by key after a question, and comes back by Undo', async () => {
  const course = row(/^Course mark, .*guesses/);
  await openReplay(course);
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await pressKey(tree(), 'Delete', dialog);
  await workbench.screenshot('trajectories-delete');
  await press('Delete');
  await course.waitFor({ state: 'detached' });
  await workbench.page.getByRole('tab', { name: /Course mark: replay/ }).waitFor({ state: 'detached' });
  await answer(/1 dialogue deleted/, 'Undo');
  await course.waitFor();
});

test('a saved export is published on the hub only after a look at what goes where', async () => {
  const file = path.join(workspace, 'rows.jsonl');
  await workbench.runCommand('Tandem: Export Dialogues…');
  await workbench.quickInput.listed('Thumbs').waitFor();
  await workbench.setSize(400, 800);
  await workbench.screenshot('trajectories-export-formats-narrow');
  await workbench.setSize(1280, 800);
  await workbench.quickInput.pick('Fine-tuning rows');
  await workbench.quickInput.pickSeveral('Include leaked dialogues');
  await answer(/13 rows are ready/, 'Save…');
  await workbench.quickInput.chooseFile(file);
  await answer(/13 rows of 13 dialogues are in rows\.jsonl/, 'Open the Card');
  await workbench.page.getByRole('tab', { name: /rows\.jsonl\.md/ }).waitFor();
  await workbench.runCommand('Tandem: Publish Export or Model on Hugging Face Hub…');
  await workbench.quickInput.pick('Exported Rows…');
  await workbench.quickInput.chooseFile(file);
  await workbench.quickInput.answer('A token with write access', 'hf_ada');
  await workbench.quickInput.answer('Owner and name on the hub');
  await workbench.quickInput.pick('Private');
  await workbench.page.getByText('Publish the dataset ada/rows?').waitFor();
  expect(hub.repositories.size).toBe(0);
  await workbench.pictures('trajectories-publish');
  await press('Publish');
  await workbench.notification(/Published at .*datasets\/ada\/rows\. Only you/);
  const { 'rows.jsonl': sent } = hub.files('datasets/ada/rows');
  expect(sent).toBe(await readFile(file, 'utf8'));
});

test('of two previews each is saved by its own button, and only the rows that it shows', async () => {
  const [clean, whole] = ['clean.jsonl', 'whole.jsonl'].map((name) => path.join(workspace, name));
  await workbench.clearNotifications();
  for (const [format, also, number] of [
    ['Fine-tuning rows', 'leaked dialogues', 2],
    ['One row per dialogue in the published format', 'evaluation dialogues', 3],
  ] as const) {
    await workbench.runCommand('Tandem: Export Dialogues…');
    await workbench.quickInput.pick(format);
    await workbench.quickInput.pickSeveral(`Include ${also}`);
    await workbench.page.getByRole('tab', { name: `export-preview-${number}.md` }).waitFor();
  }
  await tellASecret(path.join(workspace, '.tandem'));
  await answer(/13 rows are ready/, 'Save…');
  await workbench.quickInput.chooseFile(clean!);
  await workbench.notification(/the log has changed since this preview/);
  await expect(access(clean!)).rejects.toThrow('ENOENT');
  await workbench.page.getByRole('tab', { name: 'export-preview-4.md' }).waitFor();
  await expect.poll(() => workbench.page.getByRole('tab', { name: 'export-preview-2.md' }).count()).toBe(0);
  const editor = replay();
  await editor.getByText('14 rows').waitFor();
  for (const [what, file, rows] of [
    ['Leave These Dialogues Out', clean!, 13],
    ['Export Everything', whole!, 14],
  ] as const) {
    await pressInRow(
      workbench.page.locator('.editor-group-container.active .editor-actions'),
      'Save Export',
      workbench.quickInput.listed('github token'),
    );
    await workbench.screenshot('trajectories-export-findings');
    await workbench.quickInput.pick(what);
    await workbench.quickInput.chooseFile(file);
    await workbench.notification(new RegExp(`${rows} rows of ${rows} dialogues are in`));
    expect((await readFile(file, 'utf8')).includes(secret)).toBe(file === whole);
  }
});

test('statistics are drawn, saved as a picture, grouped and given as tables', async () => {
  await workbench.runCommand('Tandem: Show Statistics of Dialogues');
  await replay().getByRole('heading', { name: 'Statistics' }).waitFor();
  const picture = replay().getByRole('img', { name: /^Success\. .*guesses: 0 % \(0 to \d+\)/ });
  await picture.waitFor();
  await replay().locator('canvas').first().waitFor();
  await pictures('trajectories-statistics');
  const saved = path.join(workspace, 'success.png');
  await replay().getByRole('button', { name: 'Save as PNG…' }).first().click();
  await workbench.quickInput.chooseFile(saved);
  await workbench.notification(/success\.png is saved\./);
  expect((await readFile(saved)).subarray(1, 4).toString()).toBe('PNG');
  await replay().getByRole('combobox', { name: 'By' }).selectOption('pack');
  await replay().getByRole('heading', { name: 'Success by pack' }).waitFor();
  await replay().getByRole('button', { name: 'Show tables' }).click();
  await replay().getByRole('table', { name: 'Time per reply by pack' }).waitFor();
  await workbench.screenshot('trajectories-statistics-tables');
  await expectAccessible(replay());
});

test('the place from which two dialogues differ is told, gone to and marked', async () => {
  const heavy = 'At how many kilograms is a parcel **heavy**?';
  const limit = 'Above 20 kilograms.';
  const log = await TrajectoryLog.open(path.join(workspace, '.tandem'));
  const agents: string[] = [];
  for (const [asked, replied] of [
    ['Is the supplement of **4.50 euros** added before the zone is looked up?', 'It is added afterwards.'],
    ['Is the supplement of **4.50 euros** added when the zone is unknown?', 'It is added always.'],
  ] as const) {
    const parts = await partsOf(log, [heavy, asked]);
    agents.push(path.basename(parts.agent.name, '.json'));
    const dialogue = await Dialogue.start({ ...parts, seed: 4 });
    await dialogue.agentTurn();
    await dialogue.reply(limit, { author: 'developer', by: 'ada' });
    await dialogue.agentTurn();
    await dialogue.reply(replied, { author: 'developer', by: 'ada' });
    await dialogue.agentTurn();
  }
  await log.close();
  await openReplay(row(/^Course mark, /));
  await replay().getByRole('button', { name: 'reference', exact: true }).click();
  const reference = workbench.page.getByRole('tab', { name: /course-mark\.reference\.py/ });
  await reference.waitFor();
  const [one, other] = agents.map((agent) => row(new RegExp(`^Parcel surcharge, .*${agent}`)));
  await openRow(one!, replay().getByText(`agent: ${agents[0]}`));
  await replay().getByRole('button', { name: 'compare with…' }).click();
  await workbench.quickInput.listed(agents[1]!).waitFor();
  await workbench.screenshot('trajectories-compare-with');
  await workbench.quickInput.dismiss();
  await alsoSelect(other!);
  await chooseInMenu(other!, 'Compare Selected', replay().getByRole('region', { name: 'Second dialogue' }));
  // It would seem to be the reference of the dialogues that are compared.
  await reference.waitFor({ state: 'detached' });
  await workbench.runCommand('View: Close Other Editors in Group');
  const marks = (name: string): Promise<string[]> =>
    replay().getByRole('region', { name }).locator('mark').allTextContents();
  for (const name of ['First dialogue', 'Second dialogue'])
    await expect.poll(() => marks(name)).toHaveLength(3);
  const both = [await marks('First dialogue'), await marks('Second dialogue')];
  expect(both.sort()).toEqual([
    ['before', 'looked up', 'afterwards'],
    ['when', 'unknown', 'always'],
  ]);
  await pictures('trajectories-parting');
  await replay().getByRole('button', { name: 'compare the answers' }).click();
  await workbench.page.getByRole('tab', { name: /Parcel surcharge: two answers/ }).waitFor();
  await workbench.runCommand('View: Close Editor');
  await workbench.runCommand('View: Maximize Editor Group and Hide Side Bars');
  await workbench.setSize(400, 800);
  await workbench.screenshot('trajectories-parting-400');
  await expectAccessible(replay());
  await replay().getByRole('button', { name: 'first difference: turn 2, the agent’s message' }).click();
  const focused = (name: string): Locator => replay().getByRole('region', { name }).locator('.parting:focus');
  await focused('First dialogue').waitFor();
  await workbench.screenshot('trajectories-parting-gone-to');
  await focused('First dialogue').getByRole('button', { name: 'see the other one' }).click();
  await focused('Second dialogue').waitFor();
  await workbench.setSize(1280, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
});
