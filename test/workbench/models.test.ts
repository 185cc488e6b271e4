import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { answer, cutAfter } from '../fixtures/chat-server-replies';
import { expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { insisting } from './retries';
import { chooseInMenu, openRow, pressInRow } from './rows';
import { allThemes } from './themes';

const key = 'sk-workbench-secret';
const question = 'At how many kilograms does a parcel count as heavy?';

let workspace: string;
let userData: string;
let server: ChatServer;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const models = () => workbench.page.getByRole('tree', { name: 'Models' });
const modelRow = (name: RegExp) => models().getByRole('treeitem', { name });
const widget = () => workbench.quickInput.widget;
const row = (text: string | RegExp) => workbench.quickInput.listed(text);

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-models-'));
  userData = await mkdtemp(path.join(os.tmpdir(), 'tandem-models-user-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  // The tree draws only the rows that fit: the tasks of this test should come first.
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  server = await startChatServer({
    reply: () => answer(`I wonder.\nOUTPUT:\n${question}`),
    key,
    models: ['llama-tiny', 'qwen-tiny'],
  });
  workbench = await startWorkbench({ extension: root, workspace, userData });
});

afterAll(async () => {
  await workbench.close();
  await server.close();
  for (const folder of [workspace, userData]) await rm(folder, { recursive: true, force: true });
});

test('connects a model, and plays a turn with it', async () => {
  await workbench.showTandem();
  await workbench.openViews('Tasks', 'Models');
  await workbench.runCommand('Tandem: Connect Model…');
  await widget().locator('input.input').fill(server.url);
  await workbench.quickInput.pick(`Use “${server.url}”`);
  await workbench.quickInput.answer('Connect a Model (2/4)', key);
  await workbench.quickInput.pick('qwen-tiny');
  await workbench.quickInput.pick('Connect and Use as Agent');
  await modelRow(/^qwen-tiny, agent, /).waitFor();
  await openRow(
    workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ }),
    session().getByText('agent: ').first(),
  );
  await session().getByRole('button', { name: 'Agree and start' }).click();
  await session().getByText(question).waitFor();
  await workbench.pictures('models-view', allThemes);
});

test('chooses one of the models of a server on this machine, which it finds, also in a narrow window', async () => {
  let reply = answer('Hello.');
  const names = ['gemma-tiny', 'llama-tiny', 'phi-tiny', 'smol-tiny'];
  const open = await startChatServer({ reply: () => reply, models: names });
  onTestFinished(() => open.close());
  // A connected server is one at which models are looked for.
  await workbench.runCommand('Tandem: Connect Model…');
  await widget().locator('input.input').fill(open.url);
  await workbench.quickInput.pick(`Use “${open.url}”`);
  await workbench.quickInput.answer('Connect a Model (2/4)');
  for (const name of names) await row(name).waitFor();
  await workbench.pictures('models-choose', allThemes);
  await workbench.quickInput.pick('phi-tiny');
  await workbench.quickInput.pick('Connect Only');
  await modelRow(/^phi-tiny, works/).waitFor();
  // Servers have five seconds to answer; where the machine is slow, they are looked for again.
  await insisting(async (options) => {
    await workbench.runCommand('Tandem: Connect Model…');
    await row(new RegExp(`${new URL(server.url).host}.*asks`)).waitFor(options);
  });
  await workbench.pictures('models-found', allThemes);
  await workbench.setSize(400, 800);
  await workbench.screenshot('models-found-narrow');
  await workbench.setSize(1280, 800);
  await workbench.quickInput.pick('4 models');
  await widget().getByText('Connect a Model (2/3)').waitFor();
  for (const name of names) await row(name).waitFor();
  await workbench.quickInput.dismiss();

  reply = cutAfter('The connection closes in the middle of this answer');
  const broken = /closed the connection mid-answer, after 9 words/;
  await pressInRow(modelRow(/^phi-tiny/), 'Test Connection', modelRow(broken));
  const told = await workbench.notification(broken);
  await told.getByRole('button', { name: 'Edit Connection…' }).click();
  await row(broken).waitFor();
  await workbench.pictures('models-broken', allThemes);
  await workbench.quickInput.dismiss();
  await workbench.clearNotifications();
  await chooseInMenu(modelRow(/^phi-tiny/), 'Remove from List');
  await modelRow(/^phi-tiny/).waitFor({ state: 'detached' });
});

test('says in the view and in the session that the server is gone, and leads to the connection', async () => {
  await server.close();
  const failing = modelRow(/^qwen-tiny, agent, fails, .*Can't connect to 127\.0\.0\.1:\d+/);
  await pressInRow(modelRow(/^qwen-tiny/), 'Test Connection', failing);
  await workbench.page.getByRole('alert').getByText("Can't connect to").first().waitFor();
  await session().getByRole('textbox', { name: 'Your reply to the agent' }).fill('Above 20 kilograms.');
  await session().getByRole('button', { name: 'Send' }).click();
  await session().getByRole('button', { name: 'Try again' }).waitFor();
  await session().getByRole('alert').getByText('127.0.0.1').waitFor();
  await expectAccessible(session());
  await session().getByRole('button', { name: 'Edit the connection…' }).click();
  await widget().getByText('Edit qwen-tiny').waitFor();
  await row("Can't connect to").waitFor();
  await workbench.pictures('models-mend', allThemes);
  await workbench.setSize(400, 800);
  await workbench.screenshot('models-mend-narrow');
  await workbench.setSize(1280, 800);
  await row('Save').waitFor();
  await workbench.quickInput.dismiss();
  await widget().waitFor({ state: 'hidden' });
});

test('the key is in no settings file and in no log', async () => {
  for (const folder of [workspace, path.join(userData, 'User')]) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(json|jsonl)$/.test(entry.name)) continue;
      const text = await readFile(path.join(entry.parentPath, entry.name), 'utf8');
      expect(text.includes(key), entry.name).toBe(false);
    }
  }
  const settings = await readFile(path.join(userData, 'User', 'settings.json'), 'utf8');
  expect(settings).toContain('"baseUrl"');
});

test('gives roles from the menu of a row and from lists, and the view marks them', async () => {
  await chooseInMenu(
    modelRow(/^qwen-tiny, agent, /),
    'Use as Simulator',
    modelRow(/^qwen-tiny, agent, simulator, /),
  );
  await workbench.runCommand('Tandem: Choose Agent…');
  await row('qwen-tiny').waitFor();
  await workbench.pictures('models-agent', allThemes);
  await workbench.setSize(400, 800);
  await workbench.screenshot('models-agent-narrow');
  await workbench.setSize(1280, 800);
  await workbench.quickInput.pick('starter');
  await modelRow(/^starter, agent, /).waitFor();
  await workbench.runCommand('Tandem: Choose Simulator…');
  await workbench.quickInput.pick('Simulator (rules)');
  await modelRow(/^qwen-tiny, fails/).waitFor();
  await workbench.runCommand('Tandem: Compare Two Candidates…');
  await workbench.quickInput.pick('qwen-tiny');
  await modelRow(/^qwen-tiny, second agent, /).waitFor();
});

test('adds a model folder and makes it the agent; a folder that is no model is refused with the reason', async () => {
  const folder = path.join(workspace, 'own-model');
  await cp(path.join(root, 'media', 'starter'), folder, { recursive: true });
  await workbench.runCommand('Tandem: Add Model Folder…');
  await workbench.quickInput.chooseFile(path.join(workspace, 'agents', path.sep));
  await workbench.notification(/agents.*config\.json/);
  const download = path.join(workspace, 'download');
  await mkdir(download);
  await writeFile(path.join(download, 'tiny.gguf'), 'GGUF');
  await workbench.runCommand('Tandem: Add Model Folder…');
  await workbench.quickInput.chooseFile(`${download}${path.sep}`);
  await workbench.notification(/tiny\.gguf is a GGUF file.*tandem convert .*llama-server -m /);
  // Errors stay above later notifications, and the list draws only the rows that fit.
  await workbench.clearNotifications();
  await workbench.runCommand('Tandem: Add Model Folder…');
  await workbench.quickInput.chooseFile(`${folder}${path.sep}`);
  const told = await workbench.notification(/own-model is in the list of models\./);
  await told.getByRole('button', { name: 'Use as Agent' }).click();
  await modelRow(/^own-model, agent, /).waitFor();
});
