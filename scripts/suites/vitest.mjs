// Runs suites with Vitest, which prints a report on the terminal and writes one to a file that is read here.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { run } from '../setup/command.mjs';
import { results, root, withNode } from '../setup/project.mjs';
import { SetupFault } from '../setup/steps.mjs';
import { failure } from './outcome.mjs';

/** @typedef {'unit' | 'sandbox' | 'process' | 'smoke' | 'workbench' | 'neighbours'} Project a project of vitest.config.mts */

/**
 * One file of tests in Vitest's JSON report; only the fields that are read here.
 *
 * @typedef {object} TestFile
 * @property {string} name the absolute path
 * @property {string} status
 * @property {string} [message] the error of a file that fails as a whole
 * @property {{status: string, fullName: string, failureMessages?: string[]}[]} assertionResults one per test
 */

/**
 * @param {Project} project
 * @param {import('./suites.mjs').Choice} choice
 * @param {readonly string[]} [only] the files to run; all of the project without it
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 * @throws {SetupFault} when Vitest ends without a report
 */
export async function vitestSuite(project, { name, part }, only = []) {
  const { status, files } = await runVitest(project, [
    ...only,
    ...(name === undefined ? [] : ['-t', name]),
    ...(part === undefined ? [] : [`--shard=${part}`]),
  ]);
  for (const line of notReached(files)) console.log(line);
  return outcomeOf(files, { status, isFiltered: name !== undefined });
}

/**
 * @param {Project} project
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
 * Lists the steps that were not reached: a story ends at its first failed step (test/workbench/story.ts), and later
 * steps are no failures.
 *
 * @param {readonly TestFile[]} files
 * @returns {string[]} lines with the unreached steps under the name of each failed file
 */
export function notReached(files) {
  return files
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const steps = assertionResults.filter(({ status }) => status === 'skipped');
      if (steps.length === 0) return [];
      return [
        `\nNot reached in ${path.relative(root, name)}:`,
        ...steps.map(({ fullName }) => `  ${fullName}`),
      ];
    });
}

/** @param {readonly TestFile[]} files */
const testsOf = (files) => files.flatMap(({ assertionResults }) => assertionResults);

/**
 * @param {readonly TestFile[]} files
 * @param {{status: number, isFiltered: boolean}} run `status`: Vitest's exit status; `isFiltered`: tests that were not
 * selected do not count as skipped
 * @returns {import('./outcome.mjs').Outcome}
 */
export function outcomeOf(files, { status, isFiltered }) {
  const tests = testsOf(files);
  const count = (/** @type {string} */ wanted) => tests.filter((test) => test.status === wanted).length;
  const nameOf = (/** @type {TestFile} */ { name }) => path.relative(root, name);
  // A file that fails as a whole, in an import or a hook, may have no failed test.
  const brokenFiles = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  const [passed, failed] = [count('passed'), count('failed') + brokenFiles.length];
  const failures = files.flatMap((file) =>
    file.assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) =>
        failure(`${nameOf(file)}: ${fullName}`, failureMessages?.join('\n')),
      ),
  );
  return {
    passed,
    failures: [...failures, ...brokenFiles.map((file) => failure(nameOf(file), file.message))],
    // An error outside all tests shows only in the exit status.
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: isFiltered ? 0 : tests.length - passed - count('failed'),
  };
}
