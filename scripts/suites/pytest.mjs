// The trainer's suite, which pytest runs: its own report goes to the terminal, a second one to a file that is read here.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { run } from '../setup/command.mjs';
import { results, root } from '../setup/project.mjs';
import { SetupFault } from '../setup/steps.mjs';

const trainer = path.join(root, 'trainer');

/**
 * Ruff's check and format, then the tests.
 *
 * @param {string} python an interpreter with the packages of `trainer/tests/requirements.lock`
 * @param {string | undefined} name runs only the tests whose names match it, as a substring, and no check
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 * @throws {SetupFault} when pytest ends without a report
 */
export async function pytestSuite(python, name) {
  mkdirSync(results, { recursive: true });
  const report = path.join(results, 'trainer.xml');
  rmSync(report, { force: true });
  const checks = name === undefined ? await failedChecks(python) : 0;
  // What a file's tests share is made once, because they stay together.
  const args = ['-m', 'pytest', '-q', '-n', '2', '--dist', 'loadscope', '--junitxml', report];
  if (name !== undefined) args.push('-k', name);
  const status = await run(python, args, { cwd: trainer, env: offline() });
  if (!existsSync(report)) throw new SetupFault(`pytest ended with status ${status} and without a report.`);
  const outcome = outcomeOf(readFileSync(report, 'utf8'), status);
  return { ...outcome, failed: outcome.failed + checks };
}

/** @param {string} python @returns {Promise<number>} how many of the two fail */
async function failedChecks(python) {
  let failed = 0;
  for (const check of [['check'], ['format', '--check', '--quiet']]) {
    const args = ['-m', 'ruff', ...check, '--config', 'pyproject.toml', '.', '../starter'];
    const status = await run(python, args, { cwd: trainer });
    if (status !== 0) failed += 1;
  }
  return failed;
}

/** Tests talk to this machine only: the libraries would otherwise ask the hub for models by name. */
function offline() {
  return { ...process.env, HF_HUB_OFFLINE: '1', HF_HUB_DISABLE_TELEMETRY: '1', PYTHONUTF8: '1' };
}

/** pytest's own exit status for "nothing was chosen". */
const NOTHING_CHOSEN = 5;

/**
 * @param {string} xml pytest's report in JUnit's form; the numbers are attributes of its one `testsuite`
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
    ...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*>\s*<(?:failure|error)\b/g),
  ];
  // What goes wrong outside all tests shows only in the exit status.
  return {
    passed,
    failed: broken === 0 && status !== 0 ? 1 : broken,
    skipped,
    failures: failures.map(([, file, test]) => `${file}: ${test}`),
  };
}
