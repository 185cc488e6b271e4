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
 * Runs Ruff's check and format, then the tests.
 *
 * @param {string} python an interpreter with the packages of `trainer/tests/requirements.lock`
 * @param {string | undefined} name a substring of the names of the tests to run; the checks are then skipped
 * @param {string | undefined} log a file for the output; undefined prints it
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 * @throws {SetupFault} when pytest ends without a report
 */
export async function pytestSuite(python, name, log) {
  mkdirSync(results, { recursive: true });
  const output = log === undefined ? undefined : openSync(log, 'w');
  try {
    return await checkAndTest(python, name, output === undefined ? 'inherit' : ['ignore', output, output]);
  } finally {
    if (output !== undefined) closeSync(output);
  }
}

/**
 * @param {string} python
 * @param {string | undefined} name
 * @param {import('node:child_process').StdioOptions} stdio
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 */
async function checkAndTest(python, name, stdio) {
  const report = path.join(results, 'trainer.xml');
  rmSync(report, { force: true });
  const checks = name === undefined ? await failedChecks(python, stdio) : 0;
  // `loadscope` keeps the tests of a file together, so that their shared fixtures are made once. The files come in the
  // order of `conftest.py`, and not by their number of tests.
  const args = ['-m', 'pytest', '-q', '-n', '2', '--dist', 'loadscope', '--no-loadscope-reorder'];
  args.push('--junitxml', report);
  if (name !== undefined) args.push('-k', name);
  const status = await run(python, args, { cwd: trainer, env: offline(), stdio });
  if (!existsSync(report)) throw new SetupFault(`pytest ended with status ${status} and without a report.`);
  const outcome = outcomeOf(readFileSync(report, 'utf8'), status);
  return { ...outcome, failed: outcome.failed + checks };
}

/**
 * @param {string} python
 * @param {import('node:child_process').StdioOptions} stdio
 * @returns {Promise<number>} the number of failed checks, 0 to 2
 */
async function failedChecks(python, stdio) {
  let failed = 0;
  for (const check of [['check'], ['format', '--check', '--quiet']]) {
    const args = [
      '-m',
      'ruff',
      ...check,
      '--config',
      'pyproject.toml',
      '.',
      '../experiments',
      '../examples',
      '../test/neighbours',
    ];
    const status = await run(python, args, { cwd: trainer, stdio });
    if (status !== 0) failed += 1;
  }
  return failed;
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
