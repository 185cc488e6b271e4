import { readdirSync } from 'node:fs';
import path from 'node:path';
import { format } from 'node:util';

import Mocha from 'mocha';

import { failure } from '../../scripts/suites/outcome.mjs';

/** Prefix of lines for the command that opened the page (scripts/suites/host.mjs); the workbench logs others. */
const reportMark = 'TANDEM_HOST_REPORT ';
const resultMark = 'TANDEM_HOST_RESULT ';

/**
 * Runs the host tests with Mocha. The extension host calls this, because the page's address names this module as
 * its `extensionTestsPath`; what is printed here reaches the command that opened the page.
 */
export async function run(): Promise<void> {
  Mocha.reporters.Base.consoleLog = (...words: unknown[]) => console.log(reportMark + format(...words));
  const grep = process.env.TANDEM_TEST_NAME;
  const mocha = new Mocha({ color: false, timeout: 900_000, ...(grep !== undefined && { grep }) });
  for (const name of readdirSync(__dirname)) {
    if (name.endsWith('.test.js')) mocha.addFile(path.join(__dirname, name));
  }
  await mocha.loadFilesAsync();
  await new Promise<void>((resolve) => {
    const failed: string[] = [];
    const runner = mocha.run(() => {
      const { passes, failures, pending } = runner.stats ?? { passes: 0, failures: 1, pending: 0 };
      const outcome = { passed: passes, failed: failures, skipped: pending, failures: failed };
      console.log(resultMark + JSON.stringify(outcome));
      resolve();
    });
    runner.on('fail', (test, error: Error) => failed.push(failure(test.fullTitle(), error.stack)));
  });
}
