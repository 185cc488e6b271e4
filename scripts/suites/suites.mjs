// Defines the suites of tests, and which of them `npm test` runs.
import path from 'node:path';

import { ensurePythonEnvironment } from '../python.mjs';
import { ensureRealModel } from '../real-model.mjs';
import { runLogged } from '../setup/command.mjs';
import { results, root, withNode } from '../setup/project.mjs';
import { bubblewrapPackage, ensureSystemPackages } from '../setup/system.mjs';
import { ensureBrowser } from '../workbench/browser.mjs';
import { ensureWorkbench } from '../workbench/install.mjs';
import { hostSuite } from './host.mjs';
import { sum } from './outcome.mjs';
import { pytestSuite, ruff } from './pytest.mjs';
import { vitestSuite } from './vitest.mjs';

/**
 * What of a suite is run.
 *
 * @typedef {object} Choice
 * @property {string} [name] a pattern for the names of the tests
 * @property {boolean} [quick] only the part that `npm test` runs
 * @property {string} [part] `1/3` is the first third of the suite's files
 * @property {string} [log] a file for the output, which is otherwise printed
 */

/**
 * @typedef {object} Suite
 * @property {boolean} tests true for tests, which can be selected by name; false for checks, which run at the same time
 * @property {(quick: boolean) => readonly (() => Promise<unknown>)[]} needs installs what the suite needs
 * @property {true} [besideNext] for tests that often wait: they run together with the next suite, and print afterwards
 * @property {(choice: Choice) => Promise<import('./outcome.mjs').Outcome>} run
 */

/** Files of `process` that `npm test` runs: one path through the commands, the start of a run, a crash of the log. */
const quickProcesses = [
  'cli/main',
  'cli/collect',
  'cli/grade',
  'cli/check',
  'cli/export',
  'training/start',
  'trajectory/crash',
].map((file) => `test/process/${file}.test.ts`);

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

/** @type {readonly (readonly [string, Suite])[]} */
const all = [
  ['typecheck', { tests: false, needs: () => [], run: () => check('typecheck') }],
  ['lint', { tests: false, needs: () => [], run: () => check('lint') }],
  ['unit', { tests: true, needs: () => [], run: unit }],
  ['sandbox', { tests: true, needs: () => [bubblewrap], run: sandbox }],
  [
    'trainer',
    {
      tests: true,
      needs: (quick) => (quick ? [trainerPython] : [trainerPython, realModel]),
      besideNext: true,
      run: trainer,
    },
  ],
  [
    'process',
    {
      tests: true,
      needs: (quick) =>
        quick ? [bubblewrap, trainerPython] : [bubblewrap, trainerPython, realServer, realModel],
      run: processes,
    },
  ],
  ['cluster', { tests: true, needs: () => [trainerPython], run: cluster }],
  ['smoke', { tests: true, needs: () => [workbenchServer, trainerPython], run: smoke }],
  ['host', { tests: true, needs: () => [workbenchServer], run: host }],
  ['neighbours', { tests: true, needs: () => [neighboursPython, realModel], run: neighbours }],
  ['stories', { tests: true, needs: () => [workbenchServer, trainerPython], run: stories }],
];

/** Every suite, in the order in which they run. */
export const suites = new Map(all);

/** The suites that `npm test` runs, `trainer` and `process` in part. */
export const quickSuites = ['typecheck', 'lint', 'unit', 'trainer', 'process', 'smoke'];

/**
 * Installs what these suites need, one after the other, while suites without needs run. Each suite waits for its own
 * needs, and reports their failures.
 *
 * @param {readonly Suite[]} chosen
 * @param {boolean} quick
 */
export async function installAhead(chosen, quick) {
  for (const need of new Set(chosen.flatMap(({ needs }) => needs(quick)))) {
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

/** @param {Choice} choice */
function unit(choice) {
  // A test that needs the trainer's packages belongs to `process`, and must fail here on every machine.
  delete process.env.TANDEM_TRAINER_PYTHON;
  return vitestSuite('unit', choice);
}

/** @param {Choice} choice */
async function sandbox(choice) {
  await bubblewrap();
  return vitestSuite('sandbox', choice);
}

/** @param {Choice} choice */
async function processes(choice) {
  await bubblewrap();
  await useRealTrainer();
  if (choice.quick) return vitestSuite('process', choice, quickProcesses);
  // Installed here and not in a test, because the download must not count against a test's time limit.
  await realServer();
  await useRealModel();
  return vitestSuite('process', choice);
}

/** @param {Choice} choice */
async function trainer(choice) {
  const python = await trainerPython();
  const checks = choice.name === undefined ? await ruff(python, choice.log) : sum([]);
  if (!choice.quick) await useRealModel();
  const selection = choice.quick
    ? { marks: 'not slow and not cluster', workers: 0 }
    : { marks: 'not cluster', workers: 2 };
  const tests = await pytestSuite(python, { ...choice, suite: 'trainer', ...selection });
  return { ...sum([checks, tests]), failures: tests.failures };
}

/** @param {Choice} choice */
async function cluster(choice) {
  return pytestSuite(await trainerPython(), { ...choice, suite: 'cluster', marks: 'cluster', workers: 2 });
}

/** Makes tests that start the trainer use the real one, with the packages of its own suite. */
async function useRealTrainer() {
  process.env.TANDEM_TRAINER_PYTHON = await trainerPython();
}

/** Sets the folder of SmolLM2 for tests that use it (test/fixtures/real-model, trainer/tests/test_real_model.py). */
async function useRealModel() {
  process.env.TANDEM_REAL_MODEL = await realModel();
}

/** @param {Choice} choice */
async function smoke(choice) {
  await workbenchServer();
  await useRealTrainer();
  return vitestSuite('smoke', choice);
}

/** @param {Choice} choice */
async function host({ name }) {
  await workbenchServer();
  return hostSuite(name);
}

/** @param {Choice} choice */
async function stories(choice) {
  await workbenchServer();
  await useRealTrainer();
  return vitestSuite('workbench', choice);
}

/** @param {Choice} choice */
async function neighbours(choice) {
  // The other environments are made before the first test (test/neighbours/environments.ts).
  await neighboursPython();
  await useRealModel();
  return vitestSuite('neighbours', choice);
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
