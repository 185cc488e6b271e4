/*
 * How long the extension takes to be activated in a real workbench, over several reloads, beside the workbench's own.
 *
 *   node esbuild.js --production && node test/bench/run.mjs activation [--reloads N]
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { startWorkbench, type WorkbenchDriver } from '../workbench/driver';

/** Milliseconds of every extension that the workbench lists as active, by its name. */
async function activations(workbench: WorkbenchDriver, awaited: RegExp): Promise<Map<string, number>> {
  await workbench.runCommand('Developer: Show Running Extensions');
  const editor = workbench.page.locator('.runtime-extensions-editor');
  const active = editor.locator('.extension', { has: workbench.page.getByText(/Activation: \d+/) });
  const ours = active.filter({ has: workbench.page.locator('.name', { hasText: awaited }) });
  await ours.waitFor({ timeout: 30000 });
  const found = new Map<string, number>();
  for (const one of await active.all()) {
    const words = await one.locator('.activation-time').innerText();
    found.set(await one.locator('.name').innerText(), Number(/(\d+)\s*ms/.exec(words)?.[1]));
  }
  return found;
}

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { reloads: { type: 'string', default: '8' } },
});
const workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-activation-bench-'));
await cp(path.resolve('samples', 'workspace'), workspace, { recursive: true });
const workbench = await startWorkbench({ extension: path.resolve('.'), workspace });
try {
  for (let reload = 0; reload < Number(values.reloads); reload++) {
    await workbench.reload();
    // Let the workbench settle
    await activations(workbench, /^git$/i);
    await workbench.page.keyboard.press('Escape');
    await workbench.page.waitForTimeout(3000);
    if (!(await workbench.page.getByRole('tree', { name: 'Trajectories' }).isVisible())) await workbench.activityBar('Tandem').click();
    await workbench.page.getByRole('tree', { name: 'Tasks' }).getByRole('treeitem').first().waitFor();
    const found = await activations(workbench, /^tandem/i);
    console.log([...found].map(([name, ms]) => `${name} ${ms}`).join('   '));
    await workbench.page.keyboard.press('Escape');
    await workbench.activityBar('Explorer').click();
    await workbench.page.waitForTimeout(2000);
  }
} finally {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
}
