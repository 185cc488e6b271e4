import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { startWorkbench, type WorkbenchDriver } from './driver';

let workspace: string;
let workbench: WorkbenchDriver;

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-workspace-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  workbench = await startWorkbench({ extension: root, workspace });
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('Tandem has an icon in the activity bar', async () => {
  await workbench.activityBar('Tandem').waitFor();
});

test('the workbench follows every color theme and writes a picture of it', async () => {
  for (const theme of ['light', 'dark', 'hc-light', 'hc-dark'] as const) {
    await workbench.setTheme(theme);
    expect(await workbench.screenshot(`smoke-${theme}`)).toMatch(/\.png$/);
  }
});

test('a command of the palette runs', async () => {
  await workbench.runCommand('View: Show Explorer');
  await workbench.page.getByRole('tree', { name: 'Files Explorer' }).waitFor();
});
