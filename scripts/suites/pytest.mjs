// Runs the trainer's suite with pytest, which prints a report on the terminal and writes one to a file that is read
// here.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { run } from '../setup/command.mjs';
import { results, root } from '../setup/project.mjs';
import { SetupFault } from '../setup/steps.mjs';
import { failure } from './outcome.mjs';

const trainer = path.join(root, 'trainer');

/**
 * Which tests pytest runs, and how.
 *
 * @typedef {import('./suites.mjs').Choice & { suite: string, marks: string, workers: number }} Selection `marks` is an
 * expression over the markers of `trainer/pyproject.toml`; with 0 `workers` the tests run in pytest's own process. The
 * tests' names contain `name`.
 */

/**
 * Runs the tests with pytest.
 *
 * @param {string} python an interpreter with the packages of `trainer/tests/requirements.lock`
 * @param {Selection} selection
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 * @throws {SetupFault} when pytest ends without a report
 */
export async function pytestSuite(python, { suite, name, log, marks, workers }) {
  mkdirSync(results, { recursive: true });
  const report = path.join(results, `${suite}.xml`);
  rmSync(report, { force: true });
  const args = ['-m', 'pytest', '-q', '-n', String(workers), '-m', marks, '--junitxml', report];
  // `loadscope` keeps the tests of a file together, so that their shared fixtures are made once. The files come in the
  // order of `conftest.py`, and not by their number of tests.
  if (workers > 0) args.push('--dist', 'loadscope', '--no-loadscope-reorder');
  if (name !== undefined) args.push('-k', name);
  const status = await withOutput(log, (stdio) => run(python, args, { cwd: trainer, env: offline(), stdio }));
  if (!existsSync(report)) throw new SetupFault(`pytest ended with status ${status} and without a report.`);
  return outcomeOf(readFileSync(report, 'utf8'), status);
}

/**
 * Runs Ruff's check and format.
 *
 * @param {string} python
 * @param {string | undefined} log
 * @returns {Promise<import('./outcome.mjs').Outcome>} each of the two that fails is one failed test
 */
export async function ruff(python, log) {
  let failed = 0;
  for (const check of [['check'], ['format', '--check', '--quiet']]) {
    const folders = ['.', '../experiments', '../examples', '../test/neighbours'];
    const args = ['-m', 'ruff', ...check, '--config', 'pyproject.toml', ...folders];
    if ((await withOutput(log, (stdio) => run(python, args, { cwd: trainer, stdio }))) !== 0) failed += 1;
  }
  return { passed: 0, failed, skipped: 0 };
}

/**
 * @template T
 * @param {string | undefined} log a file to append the output to; undefined prints it
 * @param {(stdio: import('node:child_process').StdioOptions) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withOutput(log, work) {
  if (log === undefined) return work('inherit');
  const output = openSync(log, 'a');
  try {
    return await work(['ignore', output, output]);
  } finally {
    closeSync(output);
  }
}

/** Returns an environment without the network: the libraries would otherwise look up models on the hub. */
function offline() {
  return { ...process.env, HF_HUB_OFFLINE: '1', HF_HUB_DISABLE_TELEMETRY: '1', PYTHONUTF8: '1' };
}

/** Exit status of pytest when no test was selected. */
const NOTHING_CHOSEN = 5;

/**
 * @param {string} xml pytest's report in JUnit's format; the numbers are attributes of its only `testsuite`
 * @param {number} status pytest's exit status
 * @returns {import('./outcome.mjs').Outcome}
 * @throws {SetupFault} when the report has no such element
 */
export function outcomeOf(xml, status) {
  const suite = /<testsuite\b[^>]*>/.exec(xml)?.[0];
  if (suite === undefined) throw new SetupFault('The report of pytest has no testsuite.');
  const count = (/** @type {string} */ name) =>
    Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const skipped = count('skipped');
  const broken = count('failures') + count('errors');
  const passed = count('tests') - broken - skipped;
  if (status === NOTHING_CHOSEN) return { passed: 0, failed: 0, skipped: 0 };
  const failures = [
    ...xml.matchAll(
      /<testcase classname="([^"]*)" name="([^"]*)"[^>]*>\s*<(?:failure|error) message="([^"]*)"/g,
    ),
  ];
  // An error outside all tests shows only in the exit status.
  return {
    passed,
    failed: broken === 0 && status !== 0 ? 1 : broken,
    skipped,
    failures: failures.map(([, file, test, message]) =>
      failure(`${file}: ${test}`, unescaped(message ?? '')),
    ),
  };
}

/** @param {string} text of an attribute in XML */
function unescaped(text) {
  return text
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}
