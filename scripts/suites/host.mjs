// Runs the tests inside a real extension host: Mocha runs there (test/host/index.ts), a browser page keeps it alive and
// passes on its output.
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { format } from 'node:util';

import { results, root } from '../setup/project.mjs';
import { SetupFault } from '../setup/steps.mjs';
import { launchBrowser } from '../workbench/browser.mjs';
import { ensureWorkbench } from '../workbench/install.mjs';
import {
  calmSettings,
  startServer,
  testEnvironment,
  testFlags,
  workbenchAddress,
  writeSettings,
} from '../workbench/server.mjs';

/** Time limit for all host tests together, in milliseconds. */
const timeLimit = 60 * 60_000;

/** Time limit for loading the page, in milliseconds; it takes a second, but much longer on a busy machine. */
const pageLimit = 300_000;

/** Prefixes of the tests' output (test/host/index.ts); all other lines are the workbench's own log. */
const reportMark = 'TANDEM_HOST_REPORT ';
const resultMark = 'TANDEM_HOST_RESULT ';

/**
 * @param {string | undefined} name a pattern for the names of the tests to run
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 * @throws {SetupFault} when the tests end without a result
 */
export async function hostSuite(name) {
  const workbench = await ensureWorkbench();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tandem-host-'));
  try {
    const workspace = path.join(folder, 'workspace');
    mkdirSync(workspace);
    const sample = path.join(root, 'samples', 'workspace');
    if (existsSync(sample)) cpSync(sample, workspace, { recursive: true });
    const userData = path.join(folder, 'user-data');
    // Guidelines would cover the documents that most tests look at; tests about guidelines turn them on.
    const settings = { ...calmSettings, 'tandem.session.openGuidelines': false };
    writeSettings(userData, settings, { replace: true });
    // The workbench lacks language models and a choice of Python. A page loads only one working folder, so these
    // extensions are installed.
    for (const name of ['editor-models', 'python-environments']) {
      const fixture = path.join(root, 'test', 'fixtures', name);
      cpSync(fixture, path.join(userData, 'extensions', name), { recursive: true });
    }
    const server = await startServer(workbench, {
      userData,
      flags: testFlags(),
      env: { ...testEnvironment, ...(name !== undefined && { TANDEM_TEST_NAME: name }) },
    });
    try {
      return await inPage(workbenchAddress(`127.0.0.1:${server.port}`, { ...extension(), workspace }));
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function extension() {
  return { extension: root, tests: path.join(root, 'dist', 'test', 'host', 'index.js') };
}

/**
 * Opens the page, passes on the tests' output, and waits for their end.
 *
 * @param {string} address
 * @returns {Promise<import('./outcome.mjs').Outcome>}
 */
async function inPage(address) {
  const browser = await launchBrowser();
  try {
    const log = path.join(results, 'host.log');
    writeFileSync(log, '');
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    /** @type {import('./outcome.mjs').Outcome | undefined} */
    let outcome;
    await page.exposeFunction(
      'codeAutomationLog',
      /** @param {string} _level @param {readonly unknown[]} args */ (_level, args) => {
        const line = format(...args);
        if (line.startsWith(resultMark)) outcome = parseOutcome(line.slice(resultMark.length));
        else if (line.startsWith(reportMark)) console.log(line.slice(reportMark.length));
        else appendFileSync(log, `${line}\n`);
      },
    );
    /** @type {Promise<number>} */
    const exit = new Promise((resolve) => void page.exposeFunction('codeAutomationExit', resolve));
    await page.goto(address, { timeout: pageLimit });
    const late = pause(timeLimit, undefined, { ref: false });
    const code = await Promise.race([exit, late]);
    if (outcome !== undefined) return outcome;
    await page.screenshot({ path: path.join(results, 'host-failure.png') });
    const how =
      code === undefined ? `did not end within ${timeLimit / 60_000} minutes` : `ended with ${code}`;
    const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15).join('\n  ');
    throw new SetupFault(
      `The extension host ${how} and gave no result; host-failure.png beside its log shows the page. ` +
        `The end of ${log}:\n  ${tail}`,
    );
  } finally {
    await browser.close();
  }
}

/** @param {string} text @returns {import('./outcome.mjs').Outcome} */
function parseOutcome(text) {
  /** @type {unknown} */
  const outcome = JSON.parse(text);
  return /** @type {import('./outcome.mjs').Outcome} */ (outcome);
}
