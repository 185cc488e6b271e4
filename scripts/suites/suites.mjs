// What `npm test` runs, in this order.
import path from 'node:path';

import { ensurePythonEnvironment } from '../python.mjs';
import { ensureRealModel } from '../real-model.mjs';
import { runLogged } from '../setup/command.mjs';
import { results, root, withNode } from '../setup/project.mjs';
import { ensureBrowser } from '../workbench/browser.mjs';
import { ensureWorkbench } from '../workbench/install.mjs';
import { hostSuite } from './host.mjs';
import { pytestSuite } from './pytest.mjs';
import { vitestSuite } from './vitest.mjs';

/**
 * @typedef {object} Suite
 * @property {boolean} tests whether it is made of tests, which can be chosen by name; checks are not, and run at once
 * @property {readonly (() => Promise<unknown>)[]} needs what is installed before it, where it is missing
 * @property {(name: string | undefined) => Promise<import('./outcome.mjs').Outcome>} run
 */

const realServer = once(() => packages('tests', 'test/fixtures/real-server/requirements.txt'));
const trainerPython = once(() => packages('trainer-tests', 'trainer/tests/requirements.lock'));
const realModel = once(async () => ensureRealModel(await trainerPython(), console.log));
const browser = once(ensureBrowser);
// The system's packages are installed one after the other.
const workbenchServer = once(() => browser().then(ensureWorkbench));

/** @type {ReadonlyMap<string, Suite>} */
export const suites = new Map([
  ['typecheck', { tests: false, needs: [], run: () => check('typecheck') }],
  ['lint', { tests: false, needs: [], run: () => check('lint') }],
  ['unit', { tests: true, needs: [], run: unit }],
  ['trainer', { tests: true, needs: [trainerPython, realModel], run: trainer }],
  ['process', { tests: true, needs: [trainerPython, realServer, realModel], run: processes }],
  ['host', { tests: true, needs: [workbenchServer], run: host }],
  ['workbench', { tests: true, needs: [workbenchServer, trainerPython], run: workbench }],
]);

/**
 * Begins to install what these suites need, one thing after the other beside those that need nothing. A suite waits for
 * what is its own, and that is where a failure is told.
 *
 * @param {readonly Suite[]} chosen
 */
export async function installAhead(chosen) {
  for (const need of new Set(chosen.flatMap(({ needs }) => needs))) {
    await need().catch(() => undefined);
  }
}

/**
 * A check is no test: it adds nothing to those that passed, but one to those that failed.
 *
 * @param {string} script of package.json
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 * @throws {SetupFault} with the end of what it said, when it fails
 */
async function check(script) {
  const log = path.join(results, `${script}.log`);
  await runLogged('npm', ['run', '--silent', script], { cwd: root, env: withNode(process.execPath), log });
  return { passed: 0, failed: 0, skipped: 0 };
}

/** @param {string | undefined} name */
function unit(name) {
  // A test that needs the trainer's packages belongs to `process`, and must fail here on every machine.
  delete process.env.TANDEM_TRAINER_PYTHON;
  return vitestSuite('unit', name);
}

/** @param {string | undefined} name */
async function processes(name) {
  // Here and not in a test, because it may have to be downloaded, which no test's time limit should include.
  await realServer();
  await useRealTrainer();
  await useRealModel();
  return vitestSuite('process', name);
}

/** @param {string | undefined} name */
async function trainer(name) {
  await useRealModel();
  return pytestSuite(await trainerPython(), name);
}

/** What starts the trainer starts the real one, with the packages of its own suite. */
async function useRealTrainer() {
  process.env.TANDEM_TRAINER_PYTHON = await trainerPython();
}

/** What plays or trains SmolLM2 finds it there (test/fixtures/real-model, trainer/tests/test_real_model.py). */
async function useRealModel() {
  process.env.TANDEM_REAL_MODEL = await realModel();
}

/** @param {string | undefined} name */
async function host(name) {
  await workbenchServer();
  return hostSuite(name);
}

/** @param {string | undefined} name */
async function workbench(name) {
  await workbenchServer();
  await useRealTrainer();
  return vitestSuite('workbench', name);
}

/**
 * @param {string} name
 * @param {string} requirements from the repository's root
 * @returns {Promise<string>} an interpreter that has them
 */
function packages(name, requirements) {
  return ensurePythonEnvironment(name, path.join(root, requirements), console.log);
}

/**
 * @template T
 * @param {() => Promise<T>} make
 * @returns {() => Promise<T>} makes it when it is first asked for
 */
function once(make) {
  /** @type {Promise<T> | undefined} */
  let made;
  return () => (made ??= make());
}
