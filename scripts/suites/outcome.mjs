// Defines the outcome of a suite of tests.

/**
 * @typedef {object} Outcome
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {readonly string[]} [failures] the names of the failed tests, as far as they are known
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
