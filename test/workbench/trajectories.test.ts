import { access, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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
import { play as playIn } from '../fixtures/log';
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
const tree = (): Locator => workbench.page.getByRole('tree', { name: 'Trajectories' });
const row = (name: RegExp): Locator => tree().getByRole('treeitem', { name }).first();
const quickInput = (): Locator => workbench.quickInput.widget;

/** Finds the header of a view in the side bar. */
const section = (name: string): Locator => workbench.page.locator('.pane-header', { hasText: name });

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
  await workbench.openViews('Trajectories');
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

test('the view says how many there are, how many succeed and how many leak', async () => {
  await section('Trajectories')
    .getByText(/^14 · \d+ % success( \(\d+–\d+ %\))? · 7\.1 % leaked$/)
    .waitFor();
});

test('a filter narrows the list, says so in its first row, and is cleared there', async () => {
  await workbench.runCommand('Tandem: Filter Trajectories…');
  await workbench.quickInput.pick('Outcome');
  await workbench.quickInput.listed('failed a test').waitFor();
  await workbench.screenshot('trajectories-filter-values');
  await workbench.quickInput.pick('failed a test');
  await quickInput().getByText('Filter Trajectories: ').waitFor();
  await workbench.quickInput.pick('Agent');
  await workbench.quickInput.pick('guesses.json');
  await quickInput().getByText('Filter Trajectories: 6 dialogues').waitFor();
  await workbench.screenshot('trajectories-filter-steps');
  await workbench.quickInput.pick('Outcome');
  // The list before has this text in its row of outcomes, too.
  await quickInput().getByText('Filter by Outcome').waitFor();
  await quickInput().locator('.monaco-list-row.focused', { hasText: 'failed a test' }).waitFor();
  await workbench.quickInput.dismiss();
  await quickInput().getByText('Filter Trajectories: ').waitFor();
  await workbench.quickInput.dismiss();
  const filter = row(/^Filter: failed a test · agent guesses, 6 of 14 dialogues$/);
  await filter.waitFor();
  await expect.poll(() => tree().getByRole('treeitem').count()).toBe(7);
  await workbench.screenshot('trajectories-filtered');
  await pressInRow(filter, 'Clear Trajectory Filter', row(/^Played, 2/));
  await filter.waitFor({ state: 'detached' });
  await expect.poll(() => tree().getByRole('treeitem').count()).toBe(16);
});

test('a filter by date, rating and text finds what it should, and nothing where there is nothing', async () => {
  for (const [dimension, value, title] of [
    ['Date', 'Today', '14 dialogues'],
    ['Rating', '3 stars or more', '1 dialogue'],
    ['Leak', 'without a leak', '0 dialogues'],
  ] as const) {
    if (dimension === 'Date') await workbench.runCommand('Tandem: Filter Trajectories…');
    await workbench.quickInput.pick(dimension);
    await workbench.quickInput.pick(value);
    await quickInput().getByText(`Filter Trajectories: ${title}`, { exact: true }).waitFor();
  }
  await workbench.quickInput.dismiss();
  await row(/, 0 of 14 dialogues$/).waitFor();
  await workbench.runCommand('Tandem: Clear Trajectory Filter');
  await row(/^Parcel surcharge/).waitFor();
  await workbench.runCommand('Tandem: Filter Trajectories…');
  await workbench.quickInput.pick('Text');
  await workbench.quickInput.pick('Containing …');
  await workbench.quickInput.answer('Found in the name of the task', 'parcel SUR');
  await quickInput()
    .getByText(/^Filter Trajectories: [1-9] dialogues$/)
    .waitFor();
  await workbench.quickInput.dismiss();
  await row(/^Filter: “parcel SUR”, [1-9] of 14 dialogues$/).waitFor();
  const dialogues = tree().locator('[role=treeitem][aria-level="2"]');
  // The rows below a group are drawn after those at the top.
  const others = async (): Promise<string[]> =>
    (await dialogues.allInnerTexts()).filter((title) => !title.includes('Parcel surcharge'));
  await expect.poll(others).toEqual([]);
  await expect.poll(() => dialogues.count()).toBeGreaterThan(0);
  await workbench.runCommand('Tandem: Clear Trajectory Filter');
  await row(/^Filter: /).waitFor({ state: 'detached' });
});

test('dialogues stand together by their source, or by what a person chooses', async () => {
  await row(/^Played, 2$/).waitFor();
  await row(/^Collected, 12, \d+ % success$/).waitFor();
  await workbench.screenshot('trajectories-grouped');
  await workbench.runCommand('Tandem: Group Trajectories By…');
  await workbench.quickInput.pick('Agent');
  await openRow(row(/^guesses, 6, 0 % success$/), row(/^Parcel surcharge, 0\/10 tests/));
  await workbench.screenshot('trajectories-grouped-by-agent');
  await workbench.runCommand('Tandem: Group Trajectories By…');
  await workbench.quickInput.pick('Task');
  await row(/^Parcel surcharge, 4, /).waitFor();
  await workbench.runCommand('Tandem: Group Trajectories By…');
  await workbench.quickInput.pick('None');
  await expect.poll(() => tree().getByRole('treeitem').count()).toBe(14);
  await workbench.runCommand('Tandem: Group Trajectories By…');
  await workbench.quickInput.pick('Source');
  await row(/^Played, 2$/).waitFor();
});

test('a search in transcripts shows who said the words, and opens the transcript there', async () => {
  await pressKey(tree(), 'Control+Alt+f', quickInput().getByText('Search Transcripts'));
  await quickInput().getByRole('textbox').fill('zone exist');
  const found = quickInput()
    .locator('.monaco-list-row', { hasText: /Parcel.surcharge/ })
    .first();
  await found.filter({ hasText: /agent,.turn/ }).waitFor();
  await found.filter({ hasText: /What.should.come.out.for.a.zone.that.does.not.exist/ }).waitFor();
  await workbench.screenshot('trajectories-search');
  await workbench.quickInput.pick(/Parcel.surcharge/);
  const editor = workbench.page.locator('.editor-instance');
  await quickInput().waitFor({ state: 'hidden' });
  const looked = editor.locator('.find-widget.visible .find-part textarea').first();
  await expect.poll(() => looked.inputValue()).toBe('zone|exist');
  await editor.locator('.view-line', { hasText: /What.should.come.out.for.a.zone/ }).waitFor();
  await expect.poll(() => editor.locator('.findMatch, .currentFindMatch').count()).toBeGreaterThan(1);
  await workbench.screenshot('trajectories-search-opened');
  // Here the list does not have the focus.
  const search = quickInput().getByText('Search Transcripts');
  await pressChord(workbench.page, ['Control+K', 'Control+Alt+F'], search);
  await quickInput().getByRole('textbox').fill('lighthouse');
  await quickInput().getByText('No message and no note has all of these words: lighthouse').waitFor();
  await workbench.quickInput.dismiss();
});

test('a finished dialogue opens in the replay, which says who wrote what', async () => {
  await openRow(
    row(/^Parcel surcharge, not graded yet/),
    replay().getByRole('heading', { name: 'Parcel surcharge' }),
  );
  await replay().getByText('developer · 42 s').waitFor();
  await replay().getByText('suggested by simulator, edited by developer · 9 s').waitFor();
  await replay().getByText('rules replies from here on').waitFor();
  await replay()
    .getByText(/gives away \d+ % of the reference/)
    .waitFor();
  await replay().getByRole('img', { name: '4 of 5 stars' }).waitFor();
  await replay().getByText('the suggestion').click();
  await replay().getByText('The supplement is 4.50.', { exact: true }).waitFor();
  await replay()
    .getByText(/ada chose [AB] \(.+\) over [AB] \(.+\)\. After 12 s\./)
    .waitFor();
  await replay()
    .getByText(/candidate [AB] \(/)
    .click();
  await replay().getByText('Which currency?').waitFor();
  await replay().getByText('sample 1 of 2').click();
  await replay().getByText('good message, by ada').waitFor();
  await replay().getByText('“To the point.”').waitFor();
  await expectAccessible(replay());
  await pictures('trajectories-replay');
  await replay().getByRole('button', { name: 'transcript' }).click();
  await workbench.page.getByRole('tab', { name: /parcel-surcharge\.transcript\.md/ }).waitFor();
});

test('the replay shows the grade and compares the answer with the reference', async () => {
  await openRow(
    row(/^Parcel surcharge, \d+\/10 tests, agent .*asks-first/),
    replay().getByRole('heading', { name: /\d+ of 10 tests passed/ }),
  );
  await expectAccessible(replay());
  await replay().getByRole('button', { name: 'reference', exact: true }).click();
  await workbench.page.getByRole('tab', { name: /parcel-surcharge\.reference\.py/ }).waitFor();
  await replay().getByRole('button', { name: 'Compare with the reference' }).click();
  await workbench.page.getByRole('tab', { name: /Parcel surcharge: answer ↔ reference/ }).waitFor();
});

test('an unfinished dialogue opens in the session', async () => {
  await openRow(row(/^Parcel surcharge, in progress/), replay().getByText(/^turn 1 of \d+$/));
  await replay().getByRole('heading', { name: 'Before your first reply' }).waitFor();
  await expectAccessible(replay());
});

test('two dialogues of one task are compared side by side', async () => {
  await openReplay(row(/^Parcel surcharge, .*asks-first/));
  const guess = row(/^Parcel surcharge, .*guesses/);
  await alsoSelect(guess);
  await chooseInMenu(guess, 'Compare Selected', replay().getByRole('region', { name: 'First dialogue' }));
  await replay().getByRole('region', { name: 'Second dialogue' }).waitFor();
  await workbench.runCommand('View: Close Other Editors in Group');
  await pictures('trajectories-compare');
  await replay().getByRole('button', { name: 'compare the answers' }).click();
  await workbench.page.getByRole('tab', { name: /Parcel surcharge: two answers/ }).waitFor();
});

test('a replay is compared with another one that is chosen from a list', async () => {
  await openReplay(row(/^Parcel surcharge, .*guesses/));
  await replay().getByRole('button', { name: 'compare with…' }).click();
  await workbench.quickInput.pick(/asks-first/);
  await replay().getByRole('region', { name: 'Second dialogue' }).waitFor();
});

test('dialogues of different tasks cannot be compared, which is said', async () => {
  await openReplay(row(/^Parcel surcharge, .*guesses/));
  const other = row(/^Course mark, .*guesses/);
  await alsoSelect(other);
  await chooseInMenu(
    other,
    'Compare Selected',
    workbench.page.getByText('These dialogues are about different tasks').first(),
  );
});

test('failures are replayed one after the other, as the list has them', async () => {
  const { keyboard } = workbench.page;
  const title = (name: string): Locator => replay().getByRole('heading', { level: 1, name });
  // With no replay open, the key leads to the first failure: the dialogues that were played have none.
  await row(/^Played, /).click();
  await pressKey(tree(), 'F8', replay().getByRole('button', { name: 'next failure' }));
  await workbench.runCommand('Tandem: Filter Trajectories…');
  await workbench.quickInput.pick('Agent');
  await workbench.quickInput.pick('guesses.json');
  await quickInput().getByText('Filter Trajectories: 6 dialogues').waitFor();
  await workbench.quickInput.dismiss();
  await row(/^Filter: agent guesses, 6 of /).waitFor();
  const failed = tree().getByRole('treeitem', { name: /0\/10 tests/ });
  await expect.poll(() => failed.count()).toBe(6);
  const labels = await failed.evaluateAll((rows) => rows.map((one) => one.getAttribute('aria-label')));
  const [first, second, third] = labels.map((label) => label!.split(',')[0]!);
  await openRow(failed.first(), title(first!));
  await keyboard.press('F8');
  await title(second!).waitFor();
  await expect.poll(() => failed.nth(1).getAttribute('aria-selected')).toBe('true');
  await workbench.screenshot('trajectories-next-failure');
  await replay().getByRole('button', { name: 'next failure' }).click();
  await title(third!).waitFor();
  await expectAccessible(replay());
  await keyboard.press('Shift+F8');
  await title(second!).waitFor();
  await workbench.runCommand('Tandem: Previous Failed Dialogue');
  await title(first!).waitFor();
  await replay().getByRole('button', { name: 'previous failure' }).click();
  await answer(/No failed dialogue comes before this one in the list of trajectories\./, 'Clear Filter');
  await row(/^Filter: /).waitFor({ state: 'detached' });
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

test('several are deleted by the menu, and one of them is restored later', async () => {
  const course = row(/^Course mark, .*guesses/);
  const hotel = row(/^Hotel stay, .*guesses/);
  await openReplay(course);
  await alsoSelect(hotel);
  await chooseInMenu(hotel, 'Delete Trajectories', workbench.page.getByText('Delete 2 dialogues?'));
  await press('Delete');
  await hotel.waitFor({ state: 'detached' });
  await workbench.runCommand('Tandem: Restore Deleted Trajectories…');
  await workbench.quickInput.pickSeveral('Hotel stay');
  await hotel.waitFor();
  await expect.poll(() => course.count()).toBe(0);
});

test('an export is shown before it is written, then saved with its card', async () => {
  const file = path.join(workspace, 'rows.jsonl');
  await workbench.runCommand('Tandem: Export Trajectories…');
  await workbench.quickInput.pick('Fine-tuning rows');
  await workbench.quickInput.pickSeveral('Include leaked dialogues');
  await workbench.page.getByRole('tab', { name: /export-preview-1\.md/ }).waitFor();
  const editor = replay();
  await editor.getByText('Export preview: nothing is written yet').waitFor();
  await editor.getByText('a study of questions').waitFor();
  await expect(access(file)).rejects.toThrow('ENOENT');
  await workbench.screenshot('trajectories-export-preview');
  await answer(/12 rows are ready/, 'Save…');
  await workbench.quickInput.chooseFile(file);
  await answer(/12 rows of 12 dialogues are in rows\.jsonl/, 'Open the Card');
  await workbench.page.getByRole('tab', { name: /rows\.jsonl\.md/ }).waitFor();
  const rows = (await readFile(file, 'utf8')).trim().split('\n');
  expect(rows).toHaveLength(12);
  expect(JSON.parse(rows[0]!)).toHaveProperty('messages');
});

test('the saved export is published on the hub, after a look at what goes where', async () => {
  await workbench.runCommand('Tandem: Publish Export or Model on Hugging Face Hub…');
  await workbench.quickInput.pick('Exported Rows…');
  await workbench.quickInput.chooseFile(path.join(workspace, 'rows.jsonl'));
  await workbench.quickInput.answer('A token with the right to write', 'hf_ada');
  await workbench.quickInput.answer('Owner and name on the hub');
  await workbench.quickInput.pick('Private');
  await workbench.page.getByText('Publish the dataset ada/rows?').waitFor();
  await workbench.page.getByText('README.md (').waitFor();
  expect(hub.repositories.size).toBe(0);
  await workbench.pictures('trajectories-publish');
  await press('Publish');
  await workbench.notification(/Published at .*datasets\/ada\/rows, where only you/);
  const { 'rows.jsonl': sent } = hub.files('datasets/ada/rows');
  expect(sent).toBe(await readFile(path.join(workspace, 'rows.jsonl'), 'utf8'));
});

test('an export of choices, with the words of the editor’s models when they are asked for', async () => {
  await workbench.runCommand('Tandem: Export Trajectories…');
  await workbench.quickInput.listed('Thumbs').waitFor();
  await workbench.pictures('trajectories-export-formats');
  await workbench.setSize(400, 800);
  await workbench.screenshot('trajectories-export-formats-narrow');
  await workbench.setSize(1280, 800);
  await workbench.quickInput.pick('the chosen message and the other one');
  await workbench.quickInput.tick('Include leaked dialogues', 'Include VS Code-model dialogues');
  await workbench.screenshot('trajectories-export-choices');
  await quickInput().getByRole('button', { name: 'OK' }).click();
  await workbench.page.getByRole('tab', { name: /export-preview-2\.md/ }).waitFor();
  const editor = replay();
  await editor.getByText('preference rows of single turns').waitFor();
  await editor.getByText('read the vendor’s terms').waitFor();
  await workbench.notification(/1 rows are ready/);
});

test('an export for another tool is found by the tool’s name, and has what the tool needs beside it', async () => {
  const [inspect, factory] = ['dialogues.json', 'sft.jsonl'].map((name) => path.join(workspace, name));
  await workbench.clearNotifications();
  for (const [tool, file] of [
    ['Inspect AI', inspect!],
    ['LLaMA-Factory: fine-tuning', factory!],
  ] as const) {
    await workbench.runCommand('Tandem: Export Trajectories…');
    await workbench.quickInput.listed('Fine-tuning rows').waitFor();
    await quickInput().locator('input.input').fill(tool);
    await workbench.quickInput.pick(tool);
    await quickInput().getByRole('button', { name: 'OK' }).click();
    await answer(/rows are ready/, 'Save…');
    await workbench.quickInput.chooseFile(file);
    await workbench.notification(new RegExp(`are in ${path.basename(file)}`));
    await workbench.clearNotifications();
  }
  expect(JSON.parse(await readFile(inspect!, 'utf8'))).toMatchObject({ version: 2, status: 'success' });
  const info = await readFile(path.join(workspace, 'dataset_info.json'), 'utf8');
  expect(JSON.parse(info)).toMatchObject({ sft: { file_name: 'sft.jsonl' } });
});

test('of two previews each is saved by its own button, and only the rows that it shows', async () => {
  const [clean, whole] = ['clean.jsonl', 'whole.jsonl'].map((name) => path.join(workspace, name));
  await workbench.clearNotifications();
  for (const [format, also, number] of [
    ['Fine-tuning rows', 'leaked dialogues', 5],
    ['One row per dialogue in the published format', 'evaluation dialogues', 6],
  ] as const) {
    await workbench.runCommand('Tandem: Export Trajectories…');
    await workbench.quickInput.pick(format);
    await workbench.quickInput.pickSeveral(`Include ${also}`);
    await workbench.page.getByRole('tab', { name: `export-preview-${number}.md` }).waitFor();
  }
  await tellASecret(path.join(workspace, '.tandem'));
  await answer(/12 rows are ready/, 'Save…');
  await workbench.quickInput.chooseFile(clean!);
  await workbench.notification(/The log has changed since this preview was made/);
  await expect(access(clean!)).rejects.toThrow('ENOENT');
  await workbench.page.getByRole('tab', { name: 'export-preview-7.md' }).waitFor();
  await expect.poll(() => workbench.page.getByRole('tab', { name: 'export-preview-5.md' }).count()).toBe(0);
  const editor = replay();
  await editor.getByText('13 rows').waitFor();
  for (const [what, file, rows] of [
    ['Leave These Dialogues Out', clean!, 12],
    ['Export Everything', whole!, 13],
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

test('published rows are imported, and a line that cannot be read is named', async () => {
  const file = path.join(workspace, 'published.jsonl');
  const task = await starterTask();
  const published = {
    task: {
      problem_description: task.description,
      ground_truth: task.reference,
      test_cases: { test1: task.testCases[0]!.call },
    },
    dialogue_history: [
      { role: 'agent', content: 'From how many kilograms on?' },
      { role: 'human', content: 'Above 20.' },
      { role: 'agent', content: 'Here it is.' },
    ],
    answer: task.reference,
    reward: 0.7,
  };
  await writeFile(file, `${JSON.stringify(published)}\nnot a row\n`);
  await workbench.runCommand('Tandem: Import Trajectories…');
  await workbench.quickInput.pick('Published rows');
  await workbench.quickInput.chooseFile(file);
  await row(/agent imported/).waitFor();
  await workbench.notification(/1 dialogue imported\. 1 line cannot be read; line 2: /);
  await workbench.screenshot('trajectories-imported');
  await openRow(
    row(/, 70 % of the tests, agent imported/),
    replay().getByRole('heading', { name: '70 % of the tests passed' }),
  );
});

test('statistics are drawn, grouped and given as tables with the same numbers', async () => {
  await workbench.runCommand('Tandem: Show Statistics of Dialogues');
  await replay().getByRole('heading', { name: 'Statistics' }).waitFor();
  const picture = replay().getByRole('img', { name: /^Success\. .*guesses: 0 % \(0 % to \d+ %\)/ });
  await picture.waitFor();
  await replay().locator('canvas').first().waitFor();
  await pictures('trajectories-statistics');
  const saved = path.join(workspace, 'success.png');
  await replay().getByRole('button', { name: 'Save as PNG…' }).first().click();
  await workbench.quickInput.chooseFile(saved);
  await workbench.notification(/success\.png is saved\./);
  expect((await readFile(saved)).subarray(1, 4).toString()).toBe('PNG');
  const table = path.join(workspace, 'statistics.csv');
  await replay().getByRole('button', { name: 'Save as CSV…' }).click();
  await workbench.quickInput.chooseFile(table);
  await workbench.notification(/statistics\.csv is saved\./);
  const rows = (await readFile(table, 'utf8')).split('\r\n');
  expect(rows[0]).toBe('by,name,measure,unit,value,low,high,dialogues,graded');
  expect(rows).toContainEqual(
    expect.stringMatching(/^pack,written-by-hand\.jsonl,replySeconds,s,2[56][\d.]*,.*,\d+,\d+$/),
  );
  await replay().getByRole('combobox', { name: 'By' }).selectOption('pack');
  await replay().getByRole('heading', { name: 'Success by pack' }).waitFor();
  await replay().getByRole('button', { name: 'Show tables' }).click();
  const shown = replay().getByRole('table', { name: 'Time per reply by pack' });
  await shown
    .getByRole('row', { name: /written-by-hand\.jsonl 13 25\.5 s|written-by-hand\.jsonl \d+ 26 s/ })
    .waitFor();
  await workbench.screenshot('trajectories-statistics-tables');
  await expectAccessible(replay());
});

test('statistics follow the filter of the list', async () => {
  await workbench.runCommand('Tandem: Show Statistics of Dialogues');
  await replay().getByRole('button', { name: 'Filter…' }).click();
  await workbench.quickInput.pick('Outcome');
  await workbench.quickInput.pick('in progress');
  await quickInput().getByText('Filter Trajectories: ').waitFor();
  await workbench.quickInput.dismiss();
  await replay().getByText('only in progress').waitFor();
  await expectAccessible(replay());
  await workbench.runCommand('Tandem: Clear Trajectory Filter');
  await replay().getByText('only in progress').waitFor({ state: 'detached' });
});

test('the dialogues of another data folder are added, and once only', async () => {
  const other = path.join(workspace, 'of ada', '.tandem');
  const log = await TrajectoryLog.open(other);
  await playIn(log, 'from-ada', 1);
  await log.close();
  for (const count of ['1 dialogue', '0 dialogues']) {
    await workbench.runCommand('Tandem: Import Trajectories…');
    await quickInput().getByText('Another data folder').waitFor();
    await workbench.screenshot('trajectories-import-kinds');
    await workbench.quickInput.pick('Another data folder');
    // The slash says that it is a folder, which the dialog would otherwise look up.
    await workbench.quickInput.chooseFile(`${other}${path.sep}`);
    await workbench.notification(new RegExp(`^${count} imported\\.`));
    await workbench.clearNotifications();
  }
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
  const [one, other] = agents.map((agent) => row(new RegExp(`^Parcel surcharge, .*${agent}`)));
  await openReplay(one!);
  await alsoSelect(other!);
  await chooseInMenu(other!, 'Compare Selected', replay().getByRole('region', { name: 'Second dialogue' }));
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
