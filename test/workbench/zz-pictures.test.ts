import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { root } from '../../scripts/setup/project.mjs';
import { startWorkbench, type WorkbenchDriver } from './driver';
import { showRuns, trainerEnvironment } from './runsView';

const from = '/tmp/board/.tandem/scoreboards/full';
let workspace: string;
let workbench: WorkbenchDriver;
const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');

async function bring(run: string, name: string): Promise<void> {
  const to = path.join(workspace, '.tandem', 'runs', run);
  await cp(path.join(from, 'runs', run), to, { recursive: true });
  for (const file of ['run.json', 'configuration.json']) {
    const value = JSON.parse(await readFile(path.join(to, file), 'utf8')) as { name?: string };
    if ('name' in value) await writeFile(path.join(to, file), JSON.stringify({ ...value, name }));
  }
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-pictures-'));
  await cp(path.join(root, 'samples', 'workspace'), workspace, { recursive: true });
  await cp(path.join(from, 'offline'), path.join(workspace, '.tandem'), { recursive: true });
  await bring('20261123-182907-wkr4', 'first 600 dialogues');
  await bring('20261123-183054-8lfg', 'without hidden information');
  workbench = await startWorkbench({ extension: root, workspace, environment: trainerEnvironment() });
  workbench.page.setDefaultTimeout(100_000);
});
afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('run', async () => {
  await showRuns(workbench);
  await workbench.setTheme('light');
  await workbench.setSize(1280, 900);
  const tree = workbench.page.getByRole('tree', { name: 'Runs' });
  await tree.getByRole('treeitem', { name: /^first 600/ }).first().click();
  await view().getByRole('heading', { name: 'first 600 dialogues' }).waitFor();
  await workbench.page.waitForTimeout(4000);
  await workbench.screenshot('pic-run');
  await view().getByText('Turns that the critic likes').scrollIntoViewIfNeeded();
  await workbench.page.waitForTimeout(1000);
  await workbench.screenshot('pic-run-samples');
});

test('replay', async () => {
  await workbench.runCommand('View: Close All Editors');
  await workbench.openViews('Trajectories');
  const tree = workbench.page.getByRole('tree', { name: 'Trajectories' });
  for (const n of [0, 1, 2, 3]) {
    await tree.getByRole('treeitem', { name: /tests/ }).nth(3 + 2 * n).click();
    await view().getByRole('group', { name: 'Turn 1', exact: true }).waitFor();
    if (n === 0) {
      await view().getByRole('button', { name: /see the credit of each turn/ }).click();
      await workbench.page.locator('.quick-input-widget .quick-input-list-row', { hasText: 'first 600' }).first().click();
    }
    await view().getByRole('img', { name: /^(Helped|Hurt)/ }).first().waitFor();
    await workbench.page.waitForTimeout(1000);
    await workbench.screenshot(`pic-credit-${n}`);
  }
});

test('form', async () => {
  await workbench.runCommand('View: Close All Editors');
  await workbench.runCommand('Tandem: New Run...').catch(() => workbench.runCommand('Tandem: New Run…'));
  await view().getByText('It fits this machine.').waitFor();
  await workbench.setSize(1280, 1240);
  await workbench.page.waitForTimeout(2000);
  await workbench.screenshot('pic-new-run');
});
