// The suites that Vitest runs: its own report goes to the terminal, a second one to a file that is read here.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { run } from '../setup/command.mjs';
import { results, root, withNode } from '../setup/project.mjs';
import { SetupFault } from '../setup/steps.mjs';

/**
 * One file of tests in Vitest's JSON report, as far as it is read here.
 *
 * @typedef {object} TestFile
 * @property {string} name its path, absolute
 * @property {string} status
 * @property {{status: string, fullName: string}[]} assertionResults one per test
 */

/** So many files that fail are not a machine's bad minute. */
const MOST_AGAIN = 6;

/**
 * Runs the tests. Files with a failure run a second time, each from its beginning and in a workbench of its own, when they
 * are few: on a busy machine a real browser now and then loses a click. What passes only then is named and counts as passed.
 *
 * @param {'unit' | 'workbench'} project of vitest.config.mts
 * @param {string | undefined} name runs only the tests whose names match it, once
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 * @throws {SetupFault} when Vitest ends without a report
 */
export async function vitestSuite(project, name) {
  const isFiltered = name !== undefined;
  const first = await runVitest(project, isFiltered ? ['-t', name] : []);
  const failing = first.files.filter(({ status }) => status === 'failed');
  if (isFiltered || failing.length === 0 || failing.length > MOST_AGAIN)
    return outcomeOf(first.files, { status: first.status, isFiltered });
  console.log(`\nOnce more, to tell a fault from a bad minute: ${failing.map(inProject).join(', ')}`);
  const second = await runVitest(project, failing.map(inProject));
  const unsteady = passedOnlyLater(failing, second.files);
  if (unsteady.length > 0) console.log(['Passed only the second time:', ...unsteady].join('\n  '));
  const steady = first.files.filter((file) => !failing.includes(file));
  return outcomeOf([...steady, ...second.files], { status: second.status, isFiltered });
}

/** @param {TestFile} file */
const inProject = ({ name }) => path.relative(root, name);

/**
 * @param {'unit' | 'workbench'} project
 * @param {readonly string[]} options
 * @returns {Promise<{status: number, files: TestFile[]}>} Vitest's exit status and report
 * @throws {SetupFault} when it ends without a report
 */
async function runVitest(project, options) {
  mkdirSync(results, { recursive: true });
  const file = path.join(results, `${project}.json`);
  rmSync(file, { force: true });
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', project];
  args.push('--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...options);
  const status = await run(process.execPath, args, { cwd: root, env: withNode(process.execPath) });
  if (!existsSync(file)) throw new SetupFault(`Vitest ended with status ${status} and without a report.`);
  /** @type {unknown} */
  const report = JSON.parse(readFileSync(file, 'utf8'));
  return { status, files: /** @type {{testResults: TestFile[]}} */ (report).testResults };
}

/**
 * @param {readonly TestFile[]} before
 * @param {readonly TestFile[]} after the same files, run again
 * @returns {string[]} the names of the tests that failed and then passed
 */
export function passedOnlyLater(before, after) {
  const passed = new Set(
    testsOf(after).flatMap(({ status, fullName }) => (status === 'passed' ? fullName : [])),
  );
  return testsOf(before).flatMap(({ status, fullName }) =>
    status === 'failed' && passed.has(fullName) ? fullName : [],
  );
}

/** @param {readonly TestFile[]} files */
const testsOf = (files) => files.flatMap(({ assertionResults }) => assertionResults);

/**
 * @param {readonly TestFile[]} files
 * @param {{status: number, isFiltered: boolean}} run `status` is Vitest's exit status; when filtered, the tests that were not asked for are not counted as skipped
 * @returns {import('./outcome.mjs').Outcome}
 */
export function outcomeOf(files, { status, isFiltered }) {
  const tests = testsOf(files);
  const count = (/** @type {string} */ wanted) => tests.filter((test) => test.status === wanted).length;
  // A file that fails as a whole, in an import or a hook, may have no failed test.
  const brokenFiles = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const [passed, failed] = [count('passed'), count('failed') + brokenFiles];
  return {
    passed,
    // An error outside all tests shows only in the exit status.
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: isFiltered ? 0 : tests.length - passed - count('failed'),
  };
}
