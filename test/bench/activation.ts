/*
 * Measures the activation time of the extension in a real workbench, over several reloads, compared with the
 * workbench's own extensions in the same run: by a command in an idle window, and by a click on the icon, when the
 * window draws the views at the same time. The workbench measures wall time, so the minimum of several is closest to
 * the extension's own time. With `--apart` (Linux) the server and its extension hosts run on the last core alone and
 * the browser on the others, as on a machine with spare cores.
 *
 *   node esbuild.js --production && node test/bench/run.mjs activation [--reloads N] [--apart]
 */
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import type { WorkbenchDriver } from '../workbench/driver';
import { startWorkbench } from '../workbench/launch';

/** Binds processes and their future children to cores such as `0-2`. */
const bind = (cores: string, pids: readonly string[]): void => {
  for (const pid of pids) execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, pid]);
};

/** Waits until an extension is active. @returns the activation milliseconds of all active extensions by name */
async function activations(workbench: WorkbenchDriver, awaited: RegExp): Promise<Map<string, number>> {
  await workbench.runCommand('Developer: Show Running Extensions');
  const editor = workbench.page.locator('.runtime-extensions-editor');
  const active = editor.locator('.extension', { has: workbench.page.getByText(/Activation: \d+/) });
  await active.filter({ has: workbench.page.locator('.name', { hasText: awaited }) }).waitFor();
  const found = new Map<string, number>();
  for (const one of await active.all()) {
    const words = await one.locator('.activation-time').innerText();
    found.set(await one.locator('.name').innerText(), Number(/(\d+)\s*ms/.exec(words)?.[1]));
  }
  await workbench.page.keyboard.press('Escape');
  await editor.waitFor({ state: 'detached' });
  return found;
}

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { reloads: { type: 'string', default: '6' }, apart: { type: 'boolean', default: false } },
});
const workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-activation-bench-'));
await cp(path.resolve('samples', 'workspace'), workspace, { recursive: true });
const last = os.availableParallelism() - 1;
if (values.apart) bind(`0-${last - 1}`, [String(process.pid)]);
const workbench = await startWorkbench({ extension: path.resolve('.'), workspace });
if (values.apart) {
  const server = execFileSync('pgrep', ['--pgroup', String(workbench.server.group)], { encoding: 'utf8' });
  bind(String(last), server.trim().split('\n'));
}
const times = new Map<string, number[]>();
const note = (name: string, time: number): Map<string, number[]> =>
  times.set(name, [...(times.get(name) ?? []), time]);
// The list of extensions draws only the rows that fit, the slowest first.
await workbench.page.setViewportSize({ width: 1280, height: 1600 });
try {
  for (let reload = 0; reload < Number(values.reloads); reload++) {
    for (const way of ['by a command', 'by its icon'] as const) {
      await workbench.reload();
      // The extensions that start with the workbench are active.
      await activations(workbench, /^Git$/);
      if (way === 'by a command') await workbench.runCommand('Tandem: Refresh Views');
      else {
        await workbench.activityBar('Tandem').click();
        await workbench.page.getByRole('tree', { name: 'Tasks' }).getByRole('treeitem').first().waitFor();
      }
      for (const [name, time] of await activations(workbench, /^tandem/i))
        note(/^tandem/i.test(name) ? `${name}, ${way}` : name, time);
      // An open Tandem view would activate the extension on the next reload.
      await workbench.activityBar('Explorer').click();
      // The workbench stores the open view every few seconds.
      await workbench.page.waitForTimeout(6000);
    }
  }
} finally {
  await workbench.close();
  await rm(workspace, { recursive: true, force: true });
}
console.log('milliseconds: least, median, most');
for (const [name, found] of [...times].sort(([, a], [, b]) => Math.min(...a) - Math.min(...b))) {
  const sorted = found.toSorted((a, b) => a - b);
  const three = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  console.log(`${name.padEnd(48)} ${three.map((time) => String(time).padStart(6)).join('')}`);
}
