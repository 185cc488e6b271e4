import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { answer, status } from '../fixtures/chat-server-replies';
import { expectAccessible } from './accessibility';
import { chatSettings } from './chatView';
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
const widget = () => workbench.quickInput.widget;
const row = (text: string | RegExp) => workbench.quickInput.listed(text);

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-models-'));
  userData = await mkdtemp(path.join(os.tmpdir(), 'tandem-models-user-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  // The tree draws only the rows that fit: the tasks of this test should come first.
  await rm(path.join(workspace, 'starter-world.jsonl'));
  server = await startChatServer({
    reply: ({ body }) => {
      if ('min_p' in body) return status(400, { message: 'Unknown parameter: min_p' });
      if (Number(body.top_k) > 100) return status(400, { message: 'top_k must be at most 100' });
      return answer(`I wonder.\nOUTPUT:\n${question}`);
    },
    key,
    models: ['llama-tiny', 'qwen-tiny'],
  });
  const offers = path.join(root, 'test', 'fixtures', 'editor-models');
  await cp(offers, path.join(userData, 'extensions', 'editor-models'), { recursive: true });
  const environment = { TANDEM_TEST_MODELS: 'one' };
  workbench = await startWorkbench({
    ...{ extension: root, workspace, userData, environment },
    settings: chatSettings,
  });
});

afterAll(async () => {
  await workbench.close();
  await server.close();
  for (const folder of [workspace, userData]) await rm(folder, { recursive: true, force: true });
});

test('connects a model step by step: address, key, one of its models', async () => {
  await workbench.showTandem();
  await workbench.openViews('Tasks', 'Models');
  await workbench.runCommand('Tandem: Connect Model…');
  await widget().getByText('Connect a Model (1/4)').waitFor();
  await widget().locator('input.input').fill('nonsense');
  await row('cannot be used').waitFor();
  await widget().locator('input.input').fill(server.url);
  await workbench.quickInput.pick(`Use “${server.url}”`);
  await workbench.quickInput.answer('Connect a Model (2/4)');
  // Without the key the server gives no list; the form says so, and takes the key there.
  await widget().getByText('Connect a Model (3/4)').waitFor();
  await row('asks for a key').waitFor();
  await workbench.quickInput.pick('Enter the key');
  await workbench.quickInput.answer('secret storage', 'sk-mistyped');
  await row('refuses the key').waitFor();
  await workbench.pictures('models-wrong-key', allThemes);
  await workbench.quickInput.pick('Enter another key');
  await workbench.quickInput.answer('secret storage', key);
  await row('qwen-tiny').waitFor();
  await workbench.screenshot('models-list');
  await workbench.quickInput.pick('qwen-tiny');
});

test('tests the connection before it is kept, and gives it a price', async () => {
  await workbench.quickInput.pick('Test Connection');
  await row('It works: answered in').waitFor();
  await workbench.screenshot('models-review');
  await workbench.quickInput.pick('Price');
  for (const [price, part] of [
    ['1', 'prompt'],
    ['2', 'completion'],
  ] as const) {
    await workbench.quickInput.answer(`US dollars per million ${part} tokens`, price);
  }
  await row('$1 per million prompt tokens').waitFor();
});

/** Fills the sampling fields; an empty text skips a field. */
async function sample(temperature: string, topK: string): Promise<void> {
  await workbench.quickInput.pick(/Sampling/);
  await workbench.quickInput.answer('Temperature when it plays the agent', temperature);
  await workbench.quickInput.answer('Top-p: sample from', '');
  await workbench.quickInput.answer('Top-k: sample from', topK);
  await workbench.quickInput.answer('Maximum tokens per message', '');
}

test('gives it sampling settings, and the test says which the server refuses', async () => {
  await sample('0.7', '500');
  await row('temperature 0.7, top-k 500').waitFor();
  await workbench.quickInput.pick('Test Connection');
  await row('answers 400: top_k must be at most 100').waitFor();
  await workbench.pictures('models-sampling-refused', allThemes);
  await sample('0.7', '20');
  await row('temperature 0.7, top-k 20').waitFor();
  await workbench.quickInput.pick('Test Connection');
  await row('It works').waitFor();
  await row('refuses "min_p"; its own value').waitFor();
  await workbench.pictures('models-sampling', allThemes);
});

test('keeps it as the agent, which the view marks', async () => {
  await workbench.quickInput.pick('Connect and Use as Agent');
  await models()
    .getByRole('treeitem', { name: /^qwen-tiny, agent, / })
    .waitFor();
});

test('plays a turn with it', async () => {
  await openRow(
    workbench.page.getByRole('treeitem', { name: /Parcel surcharge/ }),
    session().getByText('agent: ').first(),
  );
  await session().getByRole('button', { name: 'Agree and start' }).click();
  await session().getByText(question).waitFor();
  expect(server.requests.at(-1)?.body).toMatchObject({ model: 'qwen-tiny', temperature: 0.7, top_k: 20 });
  const turn = models().getByRole('treeitem', {
    name: /^qwen-tiny, agent, works, .*, 1 turn, [\d,]+ tokens, \$0\.0/,
  });
  await turn.waitFor();
  await workbench.pictures('models-view', allThemes);
});

test('finds servers on this machine with their models, and tests before it connects', async () => {
  const open = await startChatServer({ reply: () => answer('Hello.'), models: ['gemma-tiny', 'phi-tiny'] });
  onTestFinished(() => open.close());
  await workbench.runCommand('Tandem: Connect Model…');
  await widget().locator('input.input').fill(open.url);
  await workbench.quickInput.pick(`Use “${open.url}”`);
  await workbench.quickInput.answer('Connect a Model (2/4)');
  await workbench.quickInput.pick('gemma-tiny');
  await workbench.quickInput.pick('Connect Only');
  await modelRow(/^gemma-tiny, works/).waitFor();
  expect(open.requests).toHaveLength(1);
  const phi = new RegExp(`phi-tiny.*${new URL(open.url).host}`);
  // Servers have five seconds to answer; where the machine is slow, they are looked for again.
  await insisting(async (options) => {
    await workbench.runCommand('Tandem: Connect Model…');
    await row(phi).waitFor(options);
    await row(new RegExp(`${new URL(server.url).host}.*asks`)).waitFor(options);
  });
  await workbench.pictures('models-found', allThemes);
  await workbench.setSize(400, 800);
  await workbench.screenshot('models-found-narrow');
  await workbench.setSize(1280, 800);
  await workbench.quickInput.pick(phi);
  await widget().getByText('Connect a Model (2/2)').waitFor();
  await workbench.screenshot('models-found-review');
  await workbench.quickInput.pick('Connect Only');
  await modelRow(/^phi-tiny, works/).waitFor();
  expect(open.requests.at(-1)?.body).toMatchObject({ model: 'phi-tiny' });
  for (const name of [/^phi-tiny/, /^gemma-tiny/]) {
    await chooseInMenu(modelRow(name), 'Remove from List');
    await modelRow(name).waitFor({ state: 'detached' });
  }
});

test('says in the view what is wrong when the server is gone', async () => {
  await server.close();
  const item = models().getByRole('treeitem', { name: /^qwen-tiny/ });
  const failing = models().getByRole('treeitem', {
    name: /^qwen-tiny, agent, fails: Can't connect to 127\.0\.0\.1:\d+: it refused the connection\. Start the server/,
  });
  await pressInRow(item, 'Test Connection', failing);
  await workbench.page.getByRole('alert').getByText("Can't connect to").first().waitFor();
  await workbench.screenshot('models-fails');
  await session().getByRole('textbox', { name: 'Your reply to the agent' }).fill('Above 20 kilograms.');
  await session().getByRole('button', { name: 'Send' }).click();
  await session().getByRole('button', { name: 'Ask again' }).waitFor();
  await session().getByRole('alert').getByText('127.0.0.1').waitFor();
  await expectAccessible(session());
});

test('leads from the session to the connection, which says what is wrong above what can be mended', async () => {
  await session().getByRole('button', { name: 'Edit the connection…' }).click();
  await widget().getByText('Edit qwen-tiny').waitFor();
  await row("Can't connect to").waitFor();
  await row('Address').waitFor();
  await workbench.pictures('models-mend', allThemes);
  await workbench.setSize(400, 800);
  await workbench.screenshot('models-mend-narrow');
  await workbench.setSize(1280, 800);
  await row('Save').waitFor();
  await workbench.quickInput.dismiss();
  await widget().waitFor({ state: 'hidden' });
});

test('shows use and cost as a document', async () => {
  await workbench.runCommand('Tandem: Show Usage and Cost of Models');
  await workbench.page.getByRole('tab', { name: /use-and-cost\.md/ }).waitFor();
  await workbench.page.locator('.monaco-editor').getByText('qwen-tiny (openai:qwen-tiny@').first().waitFor();
  await workbench.screenshot('models-use');
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

test('a narrow window shows the same', async () => {
  await workbench.setSize(640, 800);
  await models()
    .getByRole('treeitem', { name: /^qwen-tiny/ })
    .waitFor();
  await workbench.screenshot('models-narrow');
});

const modelRow = (name: RegExp) => models().getByRole('treeitem', { name });

test('gives roles from the menu of a row and from lists, and the view marks them', async () => {
  await workbench.setSize(1280, 800);
  await chooseInMenu(
    modelRow(/^qwen-tiny, agent, /),
    'Use as Simulator',
    modelRow(/^qwen-tiny, agent, simulator, /),
  );
  await workbench.runCommand('Tandem: Choose Agent…');
  await workbench.quickInput.pick('starter');
  await modelRow(/^starter, agent, /).waitFor();
  await workbench.runCommand('Tandem: Choose Simulator…');
  await workbench.quickInput.pick('Rules');
  await modelRow(/^qwen-tiny, fails/).waitFor();
  await workbench.runCommand('Tandem: Compare Two Candidates…');
  await workbench.quickInput.pick('qwen-tiny');
  await modelRow(/^qwen-tiny, second agent, /).waitFor();
});

test('edits a connection, which goes on in its role, and gives it another key', async () => {
  await chooseInMenu(modelRow(/^qwen-tiny/), 'Edit Connection…', widget().getByText('Edit qwen-tiny'));
  // A connection that fails is tested at once, and its rows move when the test has ended.
  await row("Can't connect to").waitFor();
  await workbench.quickInput.pick('Name');
  await workbench.quickInput.answer('Its name in the Models view', 'Lab');
  await workbench.quickInput.pick('Save');
  await modelRow(/^Lab, second agent, /).waitFor();
  await chooseInMenu(modelRow(/^Lab/), 'Set API Key…', widget().getByText('secret storage').first());
  await workbench.quickInput.answer('secret storage', 'sk-another');
  await modelRow(/^Lab, second agent, untested, /).waitFor();
});

test('removes a model once it plays no role any more', async () => {
  await chooseInMenu(modelRow(/^Lab/), 'Remove from List');
  await workbench.notification(/Lab writes the second candidate\. Choose another/);
  await workbench.runCommand('Tandem: Compare Two Candidates…');
  await workbench.quickInput.pick('One message at a time');
  await modelRow(/^Lab, untested, /).waitFor();
  await chooseInMenu(modelRow(/^Lab/), 'Remove from List');
  await modelRow(/^Lab/).waitFor({ state: 'detached' });
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

// The workbench asks for consent only for models that require authorization; this one does not.
test('a model of the editor plays the agent', async () => {
  await workbench.runCommand('Tandem: Choose Agent…');
  await workbench.quickInput.pick('Test one');
  await modelRow(/^Test one, agent, /).waitFor();
  const start = session().getByRole('button', { name: /\bstart\b/i });
  await openRow(workbench.page.getByRole('treeitem', { name: /Course mark/ }), start);
  await start.click();
  await session().getByText('How heavy is heavy?').waitFor();
  await modelRow(/^Test one, agent, .*1 turn/).waitFor();
});
