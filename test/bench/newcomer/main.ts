/*
 * Measures a newcomer's time from the first line of the README to a graded dialogue and to a better agent, in a real
 * workbench that `npm start` opens from a clone of the last commit, by a newcomer's clicks. Each lesson after the first
 * teaches the same agent from other tasks, with another seed.
 *
 *   node test/bench/run.mjs newcomer [--lessons N] [--size Brief|Standard|Thorough] [--cold]
 *
 * --cold starts with empty caches, including npm's, so that the network speed counts.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { FrameLocator, Locator } from 'playwright-core';
import { cacheFolder } from '../../../scripts/setup/cache.mjs';
import { root } from '../../../scripts/setup/project.mjs';
import { lastLesson } from '../../../src/core/evaluation/loop/lesson';
import type { WorkbenchDriver } from '../../workbench/driver';
import { startByNpm } from '../../workbench/npmStart';
import { openRow } from '../../workbench/rows';

const { values } = parseArgs({
  options: {
    lessons: { type: 'string', default: '1' },
    size: { type: 'string', default: 'Standard' },
    cold: { type: 'boolean', default: false },
  },
});

let begun = performance.now();

/** Prints the time since the last printed step. */
function took(what: string, now = performance.now()): void {
  console.log(`${((now - begun) / 1000).toFixed(0).padStart(5)} s  ${what}`);
  begun = now;
}

const page = (workbench: WorkbenchDriver): FrameLocator => workbench.webviewFrame('panel');
const button = (workbench: WorkbenchDriver, name: string): Locator =>
  page(workbench).getByRole('button', { name, exact: true });

async function firstDialogue(workbench: WorkbenchDriver): Promise<void> {
  const session = page(workbench);
  const graded = session.getByRole('heading', { name: /\d+ of 10 tests passed/ });
  await workbench.activityBar('Tandem').click();
  const tasks = workbench.page.getByRole('tree', { name: 'Tasks' });
  const start = session.getByRole('button', { name: 'Agree and start' });
  await openRow(tasks.getByRole('treeitem', { name: /, new$/ }).first(), start);
  took('from the click on Tandem to the first task');
  await start.click();
  const composer = session.getByRole('textbox', { name: 'Your reply to the agent' });
  await composer.or(graded).first().waitFor();
  took('from Agree and start to the first question');
  if (!(await graded.isVisible())) {
    const reply = 'Whole numbers, please: round to the nearest.';
    await composer.fill(reply);
    // A draft is written to the disk a moment after the last key.
    await pause(2000);
    begun = performance.now();
    await workbench.reload();
    while ((await composer.inputValue()) !== reply) await pause(50);
    took('a reload in the middle of a dialogue, with its draft');
    await session.getByRole('button', { name: 'More actions' }).click();
    await session.getByRole('menuitem', { name: /Hand over/ }).click();
  }
  await graded.waitFor();
}

async function lesson(workbench: WorkbenchDriver, dataFolder: string, trainers: string): Promise<void> {
  await page(workbench).getByRole('radio', { name: values.size }).check();
  const said = await page(workbench).locator('label', { hasText: values.size }).first().innerText();
  console.log(`         ${said.replaceAll(/\s+/g, ' ')}`);
  await button(workbench, 'Start').click();
  const install = workbench.page.getByRole('button', { name: 'Install', exact: true });
  await Promise.any([install.waitFor(), button(workbench, 'Stop').waitFor()]);
  if (await install.isVisible()) {
    await install.click();
    await pause(20_000);
    await workbench.screenshot('newcomer-installing');
    while (!(await readdir(trainers).catch(() => [])).some((name) => /^trainer-\w+$/.test(name)))
      await pause(500);
    took('from Start until what training needs is installed');
  }
  await pause(20_000);
  await workbench.screenshot('newcomer-learning');
  let outcome;
  while ((outcome = (await lastLesson(dataFolder))?.outcome) === undefined) await pause(500);
  took('from Start to success before and after');
  for (const way of ['sampled', 'greedy'] as const) {
    console.log(`         ${way}: ${JSON.stringify(outcome.comparisons[way].success)}`);
  }
}

const folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-newcomer-'));
const clone = path.join(folder, 'tandem');
await using started = new AsyncDisposableStack();
started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
execFileSync('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' });
const cache = path.join(folder, 'cache');
const cold = { TANDEM_CACHE: cache, npm_config_cache: path.join(cache, 'npm') };

begun = performance.now();
const { workbench, addressAt } = await startByNpm(clone, started.move(), values.cold ? cold : {});
took(
  `npm start, until it says the address (${values.cold ? 'nothing' : 'everything'} in the cache)`,
  addressAt,
);
try {
  took('the window');
  await firstDialogue(workbench);
  took('to a graded dialogue');
  await workbench.openViews('Tasks');
  const offer = page(workbench).getByRole('heading', { name: 'Teach the agent' });
  await openRow(workbench.page.getByRole('treeitem', { name: 'Teach Agent…' }), offer);
  const dataFolder = path.join(clone, '.sample', 'workspace', '.tandem');
  for (let number = 1; number <= Number(values.lessons); number += 1) {
    await page(workbench)
      .getByText(/dialogues\. About /)
      .first()
      .waitFor();
    took(`lesson ${number}, until it says how long it takes`);
    await lesson(workbench, dataFolder, path.join(values.cold ? cache : cacheFolder(), 'trainer'));
    await button(workbench, 'Play with it').waitFor();
    await workbench.screenshot(`newcomer-${number}`);
    await button(workbench, 'Teach it more…').click();
  }
} catch (error) {
  await workbench.screenshot('newcomer-failed');
  throw error;
} finally {
  await workbench.close();
}
