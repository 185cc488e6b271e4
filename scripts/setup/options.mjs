// The options of a set-up command, and the sentence for the one that does not exist.
import { parseArgs } from 'node:util';

import { SetupFault } from './steps.mjs';

/**
 * @template {import('node:util').ParseArgsOptionsConfig} Options
 * @param {Options} options as `parseArgs` takes them
 * @param {string} help shown below what is wrong
 * @returns {ReturnType<typeof parseArgs<{options: Options, allowPositionals: true}>>}
 * @throws {SetupFault} for an option that does not exist or lacks its value
 */
export function commandLine(options, help) {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    // Node's message goes on with advice about positional arguments.
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new SetupFault(`${reason}.\n\n${help}`, { cause: error });
  }
}
