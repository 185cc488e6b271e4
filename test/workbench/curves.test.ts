import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../scripts/setup/project.mjs';
import { saveCurve } from '../../src/core/evaluation/savedCurves';
import { accessiblePictures, expectAccessible } from './accessibility';
import type { WorkbenchDriver } from './driver';
import { startWorkbench } from './launch';
import { openRow } from './rows';
import { showRuns } from './runsView';
import { allThemes } from './themes';

// What `tandem curve` saved is read while the window is open.

let workspace: string;
let workbench: WorkbenchDriver;

const view = (): ReturnType<WorkbenchDriver['webviewFrame']> => workbench.webviewFrame('panel');
const row = (name: RegExp) =>
  workbench.page.getByRole('tree', { name: 'Runs' }).getByRole('treeitem', { name });
const dataFolder = (): string => path.join(workspace, '.tandem');

const success = (mean: number) => ({
  ...{ mean, interval: { low: mean - 0.06, high: mean + 0.07 }, coversSeeds: true },
  ...{ bySeed: [mean - 0.02, mean, mean + 0.02], tasks: 100 },
});

/** A run of a finished curve, as far as the view reads it. */
async function leaveRun(id: string): Promise<void> {
  const folder = path.join(dataFolder(), 'runs', id);
  await mkdir(folder, { recursive: true });
  const configuration = { name: 'curve-1', method: 'distill', model: { base: 'starter' } };
  await writeFile(path.join(folder, 'run.json'), JSON.stringify(configuration));
  const event = { version: 1, at: '2026-11-22T10:00:00Z', event: 'state', state: 'done' };
  await writeFile(path.join(folder, 'events.jsonl'), `${JSON.stringify(event)}\n`);
  await writeFile(
    path.join(folder, 'notes.json'),
    JSON.stringify({ version: 1, name: 'curve 100 %, seed 1' }),
  );
}

beforeAll(async () => {
  workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-curves-'));
  await leaveRun('20261122-100000-aaaa');
  workbench = await startWorkbench({ extension: root, workspace });
  await showRuns(workbench);
});

afterAll(async () => {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
});

test('a curve that is saved becomes a row with its verdict, and a page with intervals', async () => {
  await row(/^curve 100 %, seed 1, done/).waitFor();
  expect(await row(/^Learning curve/).count()).toBe(0);
  await saveCurve(dataFolder(), {
    ...{ method: 'distill', base: '/models/starter' },
    curve: {
      ...{ validation: 100, start: success(0.27), moreHelps: 'likely' },
      points: [
        { share: 0.25, tasks: 25, dialogues: 25, success: success(0.31) },
        { share: 0.5, tasks: 50, dialogues: 50, success: success(0.36) },
        { share: 1, tasks: 100, dialogues: 100, success: success(0.45) },
      ],
      gain: success(0.09),
      runs: [{ id: '20261122-100000-aaaa', share: 1, seed: 1 }],
    },
  });
  await row(/^Learning curve.*More dialogues would likely help/).waitFor();
  await openRow(row(/^Learning curve/), view().getByRole('heading', { name: 'Learning curves' }));
  await view()
    .getByRole('img', { name: /^Success\. nothing: 27\.0 % \(21\.0 to 34\.0\); 25 %: / })
    .waitFor();
  await view().getByText('From 50 % to 100 % of the tasks, success changes by +9.0').waitFor();
  await view().getByRole('button', { name: 'Play a task' }).waitFor();
  await view()
    .getByRole('row', { name: /^100 % 100 100 45\.0 %/ })
    .waitFor();
  await accessiblePictures(workbench, view(), 'learning-curves', allThemes);
  await workbench.setSize(400, 900);
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.screenshot('learning-curves-400');
  await expectAccessible(view());
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await workbench.setSize(1280, 800);
});

test('a file that is no curve is named, and without a curve the page says how one is made', async () => {
  const other = path.join(dataFolder(), 'curves', 'other.json');
  await writeFile(other, '{"version":2}');
  await view()
    .getByText(/other\.json is no learning curve that this version reads/)
    .waitFor();
  await accessiblePictures(workbench, view(), 'learning-curves-unreadable');
  await rm(path.join(dataFolder(), 'curves'), { recursive: true });
  await view().getByText('There is no learning curve of this log yet.').waitFor();
  await row(/^Learning curve/).waitFor({ state: 'detached' });
  await accessiblePictures(workbench, view(), 'learning-curves-none');
});
