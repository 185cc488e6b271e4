// `npm test` installs what is missing, builds, runs the suites and prints their sum.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { commandLine } from './setup/options.mjs';
import { build, continueInProjectNode, results } from './setup/project.mjs';
import { SetupFault, main, seconds } from './setup/steps.mjs';
import { sum, words } from './suites/outcome.mjs';

const help = `npm test [-- OPTIONS] [SUITE…]

Runs the suites typecheck, lint, unit, trainer, process, host, workbench and neighbours, or only
those that are named.

  -t NAME   only the tests whose names match the regular expression NAME, without typecheck and lint
  --help    show this

The last line is the sum: how many tests passed and failed. A check that fails, and a suite that ends
without a result, count as one failed.`;

await main(async () => {
  const { values, positionals } = commandLine(
    { t: { type: 'string', short: 't' }, help: { type: 'boolean', default: false } },
    help,
  );
  if (values.help) {
    console.log(help);
    return 0;
  }
  try {
    const other = await continueInProjectNode();
    if (other !== undefined) return other;
    await build();
    return await runSuites(positionals, values.t);
  } catch (error) {
    console.log(error instanceof SetupFault ? error.message : error);
    console.log(words({ passed: 0, failed: 1, skipped: 0 }));
    return 1;
  }
});

/**
 * @param {readonly string[]} wanted names of suites; none means all
 * @param {string | undefined} name a regular expression for names of tests; undefined runs all
 * @returns {Promise<number>} exit status
 */
async function runSuites(wanted, name) {
  // Imported here because the suites need the packages, which may just have been installed.
  const { installAhead, suites } = await import('./suites/suites.mjs');
  const unknown = wanted.find((suite) => !suites.has(suite));
  if (unknown !== undefined) {
    throw new SetupFault(`There is no suite "${unknown}". The suites are ${[...suites.keys()].join(', ')}.`);
  }
  /** @type {import('./suites/outcome.mjs').Outcome[]} */
  const outcomes = [];
  /** @type {string[]} */
  const lines = [];
  const chosen = [...suites].filter(([title, suite]) =>
    wanted.length > 0 ? wanted.includes(title) : name === undefined || suite.tests,
  );
  void installAhead(chosen.map(([, suite]) => suite));
  // Checks run beside the suites, because each uses one core and prints only at its end.
  const checks = new Map(
    chosen.flatMap(([title, suite]) => (suite.tests ? [] : [[title, timed(() => suite.run(name))]])),
  );
  /**
   * @param {string} title
   * @param {Timed} ended
   */
  const tell = (title, { outcome, took }) => {
    outcomes.push(outcome);
    const said = suites.get(title)?.tests || outcome.failed > 0 ? words(outcome) : 'ok';
    lines.push(`${title.padEnd(10)} ${said} (${seconds(took)})`);
    console.log(lines.at(-1));
  };
  /** @type {{ title: string, log: string, ended: Promise<Timed> } | undefined} the suite that runs beside the next */
  let beside;
  for (const [place, [title, suite]] of chosen.entries()) {
    const next = chosen[place + 1]?.[0];
    if (suite.besideNext && next !== undefined) {
      console.log(`\n── ${title} runs beside ${next}, and is shown after it ──`);
      const log = path.join(results, `${title}.log`);
      beside = { title, log, ended: timed(() => suite.run(name, log)) };
      continue;
    }
    console.log(`\n── ${title} ──`);
    tell(title, await (checks.get(title) ?? timed(() => suite.run(name))));
    if (beside === undefined) continue;
    const ended = await beside.ended;
    console.log(`\n── ${beside.title} ──\n${existsSync(beside.log) ? readFileSync(beside.log, 'utf8') : ''}`);
    tell(beside.title, ended);
    beside = undefined;
  }
  const total = sum(outcomes);
  if (name !== undefined && total.passed + total.failed === 0) {
    throw new SetupFault(`No test's name matches "${name}".`);
  }
  if (lines.length > 1) console.log(`\n${lines.join('\n')}`);
  for (const line of outcomes.flatMap(({ failures }) => failures ?? [])) console.log(`Failed: ${line}`);
  console.log(words(total));
  return total.failed > 0 ? 1 : 0;
}

/** @typedef {{ outcome: import('./suites/outcome.mjs').Outcome, took: number }} Timed `took` is in milliseconds */

/**
 * Runs a suite; one that ends without a result counts as one failed test, and the next one runs.
 *
 * @param {() => Promise<import('./suites/outcome.mjs').Outcome>} suite
 * @returns {Promise<Timed>}
 */
async function timed(suite) {
  const started = performance.now();
  try {
    const outcome = await suite();
    return { outcome, took: performance.now() - started };
  } catch (error) {
    console.log(error instanceof SetupFault ? error.message : error);
    return { outcome: { passed: 0, failed: 1, skipped: 0 }, took: performance.now() - started };
  }
}
