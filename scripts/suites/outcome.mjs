// Defines the outcome of a suite of tests.
import { stripVTControlCharacters } from 'node:util';

/**
 * @typedef {object} Outcome
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {readonly string[]} [failures] what `failure` returns of each failed test, as far as it is known
 */

/**
 * @param {readonly Outcome[]} outcomes
 * @returns {Outcome} their sum
 */
export function sum(outcomes) {
  return outcomes.reduce(
    (total, { passed, failed, skipped }) => ({
      passed: total.passed + passed,
      failed: total.failed + failed,
      skipped: total.skipped + skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/** @param {Outcome} outcome @returns {string} for example `12 passed, 0 failed` */
export function words({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Maximum lines of an error that are repeated at the end of a run, and maximum characters of each. */
const most = { lines: 6, characters: 300 };

/**
 * @param {string} test its file and name
 * @param {string} [error] as the suite reports it, with its stack
 * @returns {string} the name, then indented the first lines of the error and its place in the tests, because the end of
 * a long run may be all that is kept of it
 */
export function failure(test, error = '') {
  const all = stripVTControlCharacters(error)
    .split('\n')
    .map((line) => line.trim().slice(0, most.characters))
    .filter((line) => line !== '');
  const isOfStack = (/** @type {string} */ line) => line.startsWith('at ');
  const said = all.filter((line) => !isOfStack(line)).slice(0, most.lines);
  const places = all.filter((line) => isOfStack(line) && line.includes('.test.ts'));
  return [test, ...said, ...places.slice(0, 1)].join('\n  ');
}
