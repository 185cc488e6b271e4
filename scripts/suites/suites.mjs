// What `npm test` runs, in this order.
import path from 'node:path';

import { ensurePythonEnvironment } from '../python.mjs';
import { run } from '../setup/command.mjs';
import { root, withNode } from '../setup/project.mjs';
import { ensureBrowser } from '../workbench/browser.mjs';
import { ensureWorkbench } from '../workbench/install.mjs';
import { hostSuite } from './host.mjs';
import { pytestSuite } from './pytest.mjs';
import { vitestSuite } from './vitest.mjs';

/**
 * @typedef {object} Suite
 * @property {boolean} tests whether it is made of tests, which can be chosen by name
 * @property {(name: string | undefined) => Promise<import('./outcome.mjs').Outcome>} run
 */

/** @type {ReadonlyMap<string, Suite>} */
export const suites = new Map([
  ['typecheck', { tests: false, run: () => check('typecheck') }],
  ['lint', { tests: false, run: () => check('lint') }],
  ['trainer', { tests: true, run: trainer }],
  ['unit', { tests: true, run: unit }],
  ['host', { tests: true, run: host }],
  ['workbench', { tests: true, run: workbench }],
]);

/**
 * A check is no test: it adds nothing to those that passed, but one to those that failed.
 *
 * @param {string} script of package.json
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 */
async function check(script) {
  const status = await run('npm', ['run', '--silent', script], {
    cwd: root,
    env: withNode(process.execPath),
  });
  return { passed: 0, failed: status === 0 ? 0 : 1, skipped: 0 };
}

/** @param {string | undefined} name */
async function unit(name) {
  // Here and not in a test, because it may have to be downloaded, which no test's time limit should include.
  const requirements = path.join(root, 'test', 'fixtures', 'real-server', 'requirements.txt');
  await ensurePythonEnvironment('tests', requirements, console.log);
  await useRealTrainer();
  return vitestSuite('unit', name);
}

/** @param {string | undefined} name */
async function trainer(name) {
  return pytestSuite(await trainerPython(), name);
}

/** What starts the trainer starts the real one, with the packages of its own suite. */
async function useRealTrainer() {
  process.env.TANDEM_TRAINER_PYTHON = await trainerPython();
}

/** @returns {Promise<string>} an interpreter with what the trainer and its tests need */
function trainerPython() {
  const requirements = path.join(root, 'trainer', 'tests', 'requirements.lock');
  return ensurePythonEnvironment('trainer-tests', requirements, console.log);
}

/** @param {string | undefined} name */
async function host(name) {
  await ensureBrowser();
  return hostSuite(name);
}

/** @param {string | undefined} name */
async function workbench(name) {
  await ensureBrowser();
  await ensureWorkbench();
  await useRealTrainer();
  return vitestSuite('workbench', name);
}
