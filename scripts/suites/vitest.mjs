// The suites that Vitest runs: its own report goes to the terminal, a second one to a file that is read here.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { run } from '../setup/command.mjs';
import { results, root, withNode } from '../setup/project.mjs';
import { SetupFault } from '../setup/steps.mjs';

/**
 * The part of Vitest's JSON report that is read here.
 *
 * @typedef {object} VitestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {{status: string, assertionResults: {status: string}[]}[]} testResults one per file
 */

/**
 * @param {'unit' | 'workbench'} project of vitest.config.mts
 * @param {string | undefined} name runs only the tests whose names match it
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 * @throws {SetupFault} when Vitest ends without a report
 */
export async function vitestSuite(project, name) {
  mkdirSync(results, { recursive: true });
  const file = path.join(results, `${project}.json`);
  rmSync(file, { force: true });
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', project];
  args.push('--reporter=default', '--reporter=json', `--outputFile.json=${file}`);
  if (name !== undefined) args.push('-t', name);
  const status = await run(process.execPath, args, { cwd: root, env: withNode(process.execPath) });
  if (!existsSync(file)) throw new SetupFault(`Vitest ended with status ${status} and without a report.`);
  /** @type {unknown} */
  const report = JSON.parse(readFileSync(file, 'utf8'));
  return outcomeOf(/** @type {VitestReport} */ (report), { status, filtered: name !== undefined });
}

/**
 * @param {VitestReport} report
 * @param {{status: number, filtered: boolean}} run `status` is Vitest's exit status; with `filtered` the tests that were not asked for are not counted as skipped
 * @returns {import('./outcome.mjs').Outcome}
 */
export function outcomeOf(report, { status, filtered }) {
  // A file that fails as a whole, in an import or a hook, may have no failed test.
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = report.numFailedTests + brokenFiles;
  return {
    passed: report.numPassedTests,
    // An error outside all tests shows only in the exit status.
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: filtered ? 0 : report.numPendingTests + report.numTodoTests,
  };
}
