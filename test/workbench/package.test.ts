import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ownTarget } from '../../scripts/package/targets.mjs';
import { run } from '../../scripts/setup/command.mjs';
import { root } from '../../scripts/setup/project.mjs';
import { startWorkbench, type WorkbenchDriver } from './driver';

let workspace: string;
let workbench: WorkbenchDriver;

const session = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');

/** The package as `npm run package` makes it, in a workbench that has nothing else, over a folder that is empty. */
beforeAll(async () => {
  const status = await run(process.execPath, ['scripts/package.mjs', ownTarget], { cwd: root });
  expect(status).toBe(0);
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-package-'));
  const vsix = path.join(root, 'packages', `tandem-${version}-${ownTarget}.vsix`);
  workbench = await startWorkbench({ extension: { vsix }, workspace });
  workbench.page.setDefaultTimeout(60_000);
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('who installs the package plays a dialogue to its grade, with the model and the grader that came along', async () => {
  await workbench.activityBar('Tandem').click();
  await workbench.page.getByRole('button', { name: 'Play First Task' }).click();
  await session().getByText('agent: starter').waitFor();
  await session().getByRole('button', { name: 'Agree and start' }).click();
  const composer = session().getByRole('textbox', { name: 'Your reply to the agent' });
  const graded = session().getByRole('heading', { name: /\d+ of 10 tests passed/ });
  await composer.or(graded).first().waitFor();
  if (await composer.isVisible()) await session().getByRole('button', { name: 'from here on' }).click();
  await graded.waitFor();
  await workbench.openViews('Models');
  const models = workbench.page.getByRole('tree', { name: 'Models' });
  await models.getByRole('treeitem', { name: /^starter, agent, ready, [\d,.]+ tokens per second/ }).waitFor();
});
