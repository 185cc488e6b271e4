import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { accessiblePictures } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';

let workspace: string;
let workbench: WorkbenchDriver;

type Role = 'user' | 'assistant';
const entry = (uuid: string, parentUuid: string | null, role: Role, content: unknown): object => ({
  ...{ type: role, uuid, parentUuid, sessionId: 'c1', isSidechain: false },
  ...{ timestamp: '2026-08-10T12:00:01.000Z', cwd: '/home/a' },
  message: { role, content, ...(role === 'assistant' && { model: 'claude-x' }) },
});

/** In the shape in which Claude Code records a session: a question, a command with its output, an edit, a thank-you. */
const session = [
  { type: 'summary', summary: 'Tests that fail', leafUuid: 'a3' },
  entry('u1', null, 'user', 'Why do the tests of the invoice fail? They passed yesterday.'),
  entry('a1', 'u1', 'assistant', [
    { type: 'thinking', thinking: 'The newest change first, then the tests themselves.', signature: 'x' },
    { type: 'text', text: 'I run them and look at what changed.' },
    { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test -- invoice' } },
  ]),
  entry('r1', 'a1', 'user', [
    { type: 'tool_result', tool_use_id: 't1', content: 'expected 12.5, got 12\n1 failed, 30 passed' },
  ]),
  entry('a2', 'r1', 'assistant', [
    {
      type: 'text',
      text: 'The total is rounded **before** the tax is added. Shall I round once, at the end?',
    },
  ]),
  entry('u2', 'a2', 'user', 'Yes, to two places, and leave the tests as they are.'),
  entry('a3', 'u2', 'assistant', [{ type: 'text', text: 'Done: `total` rounds the sum once.' }]),
];

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-imported-'));
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('imports a session of Claude Code, and replays it with its commands and without a grade', async () => {
  const file = path.join(workspace, 'session.jsonl');
  await writeFile(file, session.map((line) => JSON.stringify(line)).join('\n'));
  await workbench.showTandem();
  await workbench.runCommand('Tandem: Import Dialogues…');
  await workbench.quickInput.pick('sessions that another program recorded');
  await workbench.quickInput.chooseFile(file);
  await workbench.notification(/1 dialogue/);
  const row = workbench.page.getByRole('tree', { name: 'Dialogues' }).getByRole('treeitem').first();
  await row.waitFor();
  await workbench.clearNotifications();
  await workbench.pictures('imported-list');
  await row.click();
  const replay = workbench.webviewFrame('panel');
  await replay.getByText('Shall I round once, at the end?').waitFor();
  await replay.getByText('a session without a task').waitFor();
  await replay.getByRole('heading', { name: 'imported', exact: true }).waitFor();
  await replay.getByText('thoughts, tool calls and results: 3').click();
  await replay.getByText('npm test -- invoice').first().waitFor();
  await accessiblePictures(workbench, replay, 'imported-replay');
  await workbench.setSize(400, 800);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.screenshot('imported-replay-400');
});
