// Parses the options of a set-up command.
import { parseArgs } from 'node:util';

import { SetupFault } from './steps.mjs';

/**
 * @template {import('node:util').ParseArgsOptionsConfig} Options
 * @param {Options} options in the form of `parseArgs`
 * @param {string} help the text that is shown below the error
 * @returns {ReturnType<typeof parseArgs<{options: Options, allowPositionals: true}>>}
 * @throws {SetupFault} for an option that does not exist or lacks its value
 */
export function commandLine(options, help) {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    // The rest of Node's message is advice about positional arguments.
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new SetupFault(`${reason}.\n\n${help}`, { cause: error });
  }
}
