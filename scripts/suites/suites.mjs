// Defines the suites of `npm test`, in the order in which they run.
import path from 'node:path';

import { ensurePythonEnvironment } from '../python.mjs';
import { ensureRealModel } from '../real-model.mjs';
import { runLogged } from '../setup/command.mjs';
import { results, root, withNode } from '../setup/project.mjs';
import { bubblewrapPackage, ensureSystemPackages } from '../setup/system.mjs';
import { ensureBrowser } from '../workbench/browser.mjs';
import { ensureWorkbench } from '../workbench/install.mjs';
import { hostSuite } from './host.mjs';
import { pytestSuite } from './pytest.mjs';
import { vitestSuite } from './vitest.mjs';

/**
 * @typedef {object} Suite
 * @property {boolean} tests true for tests, which can be selected by name; false for checks, which run at the same time
 * @property {readonly (() => Promise<unknown>)[]} needs installs what the suite needs, where it is missing
 * @property {true} [besideNext] for tests that often wait: they run together with the next suite, and print afterwards
 * @property {(name: string | undefined, log?: string) => Promise<import('./outcome.mjs').Outcome>} run `log` is a file
 * for the output, given only with `besideNext`; otherwise it is printed
 */

const realServer = once(() => packages('tests', 'test/fixtures/real-server/requirements.txt'));
const trainerPython = once(() => packages('trainer-tests', 'trainer/tests/requirements.lock'));
const neighboursPython = once(() => packages('neighbours', 'test/neighbours/requirements.txt'));
const realModel = once(async () => ensureRealModel(await trainerPython(), console.log));
const bubblewrap = once(() =>
  ensureSystemPackages('The grading of numpy answers', [bubblewrapPackage], path.join(results, 'apt.log')),
);
const browser = once(ensureBrowser);
// Runs after the browser's installation, because system packages are installed one after the other.
const workbenchServer = once(() => browser().then(ensureWorkbench));

/** @type {ReadonlyMap<string, Suite>} */
export const suites = new Map([
  ['typecheck', { tests: false, needs: [], run: () => check('typecheck') }],
  ['lint', { tests: false, needs: [], run: () => check('lint') }],
  ['unit', { tests: true, needs: [bubblewrap], run: unit }],
  ['trainer', { tests: true, needs: [trainerPython, realModel], besideNext: true, run: trainer }],
  ['process', { tests: true, needs: [bubblewrap, trainerPython, realServer, realModel], run: processes }],
  ['host', { tests: true, needs: [workbenchServer], run: host }],
  ['workbench', { tests: true, needs: [workbenchServer, trainerPython], run: workbench }],
  ['neighbours', { tests: true, needs: [neighboursPython, realModel], run: neighbours }],
]);

/**
 * Installs what these suites need, one after the other, while suites without needs run. Each suite waits for its own
 * needs, and reports their failures.
 *
 * @param {readonly Suite[]} chosen
 */
export async function installAhead(chosen) {
  for (const need of new Set(chosen.flatMap(({ needs }) => needs))) {
    await need().catch(() => undefined);
  }
}

/**
 * Runs a check. It is no test: it does not count as passed, but counts as one failure when it fails.
 *
 * @param {string} script the name of a script in package.json
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 * @throws {SetupFault} with the end of its output, when it fails
 */
async function check(script) {
  const log = path.join(results, `${script}.log`);
  await runLogged('npm', ['run', '--silent', script], { cwd: root, env: withNode(process.execPath), log });
  return { passed: 0, failed: 0, skipped: 0 };
}

/** @param {string | undefined} name */
async function unit(name) {
  await bubblewrap();
  // A test that needs the trainer's packages belongs to `process`, and must fail here on every machine.
  delete process.env.TANDEM_TRAINER_PYTHON;
  return vitestSuite('unit', name);
}

/** @param {string | undefined} name */
async function processes(name) {
  await bubblewrap();
  // Installed here and not in a test, because the download must not count against a test's time limit.
  await realServer();
  await useRealTrainer();
  await useRealModel();
  return vitestSuite('process', name);
}

/**
 * @param {string | undefined} name
 * @param {string | undefined} log
 */
async function trainer(name, log) {
  await useRealModel();
  return pytestSuite(await trainerPython(), name, log);
}

/** Makes tests that start the trainer use the real one, with the packages of its own suite. */
async function useRealTrainer() {
  process.env.TANDEM_TRAINER_PYTHON = await trainerPython();
}

/** Sets the folder of SmolLM2 for tests that use it (test/fixtures/real-model, trainer/tests/test_real_model.py). */
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

/** @param {string | undefined} name */
async function neighbours(name) {
  // The other environments are made before the first test (test/neighbours/environments.ts).
  await neighboursPython();
  await useRealModel();
  return vitestSuite('neighbours', name);
}

/**
 * @param {string} name
 * @param {string} requirements path from the repository's root
 * @returns {Promise<string>} an interpreter with these packages
 */
function packages(name, requirements) {
  return ensurePythonEnvironment(name, path.join(root, requirements), console.log);
}

/**
 * @template T
 * @param {() => Promise<T>} make
 * @returns {() => Promise<T>} calls `make` only the first time
 */
function once(make) {
  /** @type {Promise<T> | undefined} */
  let made;
  return () => (made ??= make());
}
