// `npm test` and `npm run test:all` install what is missing, build what changed, run suites and print their sum.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { commandLine } from './setup/options.mjs';
import { build, continueInProjectNode, results } from './setup/project.mjs';
import { SetupFault, main, seconds } from './setup/steps.mjs';
import { sum, words } from './suites/outcome.mjs';
import { keptResults, shards } from './suites/shards.mjs';

const help = `npm test [-- OPTIONS] [SUITE…]
npm run test:all [-- --shard SHARD]

npm test runs the suites typecheck, lint, unit, smoke, and parts of trainer and process. Suites that are
named run whole: typecheck, lint, unit, sandbox, trainer, process, cluster, smoke, host, neighbours, stories.

npm run test:all runs every suite in the shards ${[...shards.keys()].join(', ')}.
A shard that has ended is not run again before a file changes, so a run that was cut off continues.

  -t NAME        only the tests whose names match the regular expression NAME, without typecheck and lint
  --shard SHARD  only this shard, also if it has ended; may be repeated
  --help         show this

The last line is the sum: how many tests passed and failed. A check that fails, and a suite that ends
without a result, count as one failed.`;

await main(async () => {
  const { values, positionals } = commandLine(
    {
      t: { type: 'string', short: 't' },
      all: { type: 'boolean', default: false },
      shard: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
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
    if (values.all || values.shard.length > 0) return await runShards(values.shard);
    return await runNamed(positionals, values.t);
  } catch (error) {
    console.log(error instanceof SetupFault ? error.message : error);
    console.log(words({ passed: 0, failed: 1, skipped: 0 }));
    return 1;
  }
});

/**
 * @param {readonly string[]} wanted names of suites, which run whole; none means the quick parts of the quick suites
 * @param {string | undefined} name a regular expression for names of tests; undefined runs all
 * @returns {Promise<number>} exit status
 */
async function runNamed(wanted, name) {
  // Imported here because the suites need the packages, which may just have been installed.
  const { quickSuites, suites } = await import('./suites/suites.mjs');
  const unknown = wanted.find((suite) => !suites.has(suite));
  if (unknown !== undefined) {
    throw new SetupFault(`There is no suite "${unknown}". The suites are ${[...suites.keys()].join(', ')}.`);
  }
  const quick = wanted.length === 0;
  const titles = [...suites.keys()].filter((title) => (quick ? quickSuites : wanted).includes(title));
  const chosen = titles.map((suite) => ({ suite, choice: { name, quick } }));
  const ended = await runSuites(chosen.filter(({ suite }) => name === undefined || suites.get(suite)?.tests));
  const total = sum(ended.map(({ outcome }) => outcome));
  if (name !== undefined && total.passed + total.failed === 0) {
    throw new SetupFault(`No test's name matches "${name}".`);
  }
  return report(ended);
}

/**
 * @param {readonly string[]} wanted names of shards, which run again if they have ended; none means those that have not
 * @returns {Promise<number>} exit status
 */
async function runShards(wanted) {
  const unknown = wanted.find((shard) => !shards.has(shard));
  if (unknown !== undefined) {
    throw new SetupFault(`There is no shard "${unknown}". The shards are ${[...shards.keys()].join(', ')}.`);
  }
  const kept = keptResults();
  /** @type {Ended[]} */
  const all = [];
  for (const [title, parts] of shards) {
    if (wanted.length > 0 && !wanted.includes(title)) continue;
    const before = wanted.length > 0 ? undefined : kept.read(title);
    if (before !== undefined) {
      all.push({ title, ...before });
      console.log(
        `\n── shard ${title} has ended before, and no file has changed: ${words(before.outcome)} ──`,
      );
      continue;
    }
    const started = performance.now();
    const ended = await runSuites(parts.map(({ suite, part }) => ({ suite, choice: { part } })));
    const outcome = {
      ...sum(ended.map(({ outcome }) => outcome)),
      failures: ended.flatMap(({ outcome }) => outcome.failures ?? []),
    };
    const took = performance.now() - started;
    all.push({ title, outcome, took });
    kept.write(title, { outcome, took });
  }
  return report(all);
}

/**
 * @typedef {object} Ended a suite or shard that has ended
 * @property {string} title
 * @property {import('./suites/outcome.mjs').Outcome} outcome
 * @property {number} took milliseconds
 */

/**
 * Prints a line for each, the failures, and the sum.
 *
 * @param {readonly Ended[]} ended
 * @returns {number} exit status
 */
function report(ended) {
  const line = (/** @type {Ended} */ { title, outcome, took }) =>
    `${title.padEnd(10)} ${words(outcome)} (${seconds(took)})`;
  if (ended.length > 1) console.log(`\n${ended.map(line).join('\n')}`);
  for (const failure of ended.flatMap(({ outcome }) => outcome.failures ?? [])) {
    console.log(`Failed: ${failure}`);
  }
  const total = sum(ended.map(({ outcome }) => outcome));
  console.log(words(total));
  return total.failed > 0 ? 1 : 0;
}

/**
 * Runs suites one after the other, except that checks run beside the others because they use one core and print only
 * at their end, and that a suite with `besideNext` runs beside the next one.
 *
 * @param {readonly { suite: string, choice: import('./suites/suites.mjs').Choice }[]} chosen
 * @returns {Promise<Ended[]>}
 */
async function runSuites(chosen) {
  const { installAhead, suites } = await import('./suites/suites.mjs');
  const of = (/** @type {string} */ title) => {
    const suite = suites.get(title);
    if (suite === undefined) throw new Error(`There is no suite "${title}".`);
    return suite;
  };
  void installAhead(
    chosen.map(({ suite }) => of(suite)),
    chosen.some(({ choice }) => choice.quick),
  );
  const checks = new Map(
    chosen
      .filter(({ suite }) => !of(suite).tests)
      .map(({ suite, choice }) => [suite, timed(suite, () => of(suite).run(choice))]),
  );
  /** @type {Ended[]} */
  const all = [];
  const tell = (/** @type {Ended} */ ended) => {
    all.push(ended);
    console.log(`${ended.title.padEnd(10)} ${words(ended.outcome)} (${seconds(ended.took)})`);
  };
  /** @type {{ title: string, log: string, ended: Promise<Ended> } | undefined} the suite that runs beside the next */
  let beside;
  for (const [place, { suite: title, choice }] of chosen.entries()) {
    const next = chosen[place + 1]?.suite;
    if (of(title).besideNext && next !== undefined) {
      console.log(`\n── ${title} runs beside ${next}, and is shown after it ──`);
      const log = path.join(results, `${title}.log`);
      rmSync(log, { force: true });
      beside = { title, log, ended: timed(title, () => of(title).run({ ...choice, log })) };
      continue;
    }
    console.log(`\n── ${title} ──`);
    tell(await (checks.get(title) ?? timed(title, () => of(title).run(choice))));
    if (beside === undefined) continue;
    const ended = await beside.ended;
    console.log(`\n── ${beside.title} ──\n${existsSync(beside.log) ? readFileSync(beside.log, 'utf8') : ''}`);
    tell(ended);
    beside = undefined;
  }
  return all;
}

/**
 * Runs a suite; one that ends without a result counts as one failed test, and the next one runs.
 *
 * @param {string} title
 * @param {() => Promise<import('./suites/outcome.mjs').Outcome>} suite
 * @returns {Promise<Ended>}
 */
async function timed(title, suite) {
  const started = performance.now();
  try {
    const outcome = await suite();
    return { title, outcome, took: performance.now() - started };
  } catch (error) {
    console.log(error instanceof SetupFault ? error.message : error);
    return { title, outcome: { passed: 0, failed: 1, skipped: 0 }, took: performance.now() - started };
  }
}
