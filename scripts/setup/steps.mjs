// Prints the progress of set-up commands: one line per step with its duration, and one sentence on failure.

/** A set-up step that cannot continue. The message tells the user what is wrong, where, and what to do. */
export class SetupFault extends Error {}

/**
 * Runs one step and prints one line: its title while it runs, then its duration.
 *
 * @template T
 * @param {string} title the current action, for example `Installing the packages`
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(title, work) {
  const started = performance.now();
  process.stdout.write(`${title} … `);
  try {
    const result = await work();
    process.stdout.write(`${seconds(performance.now() - started)}\n`);
    return result;
  } catch (error) {
    process.stdout.write(`failed after ${seconds(performance.now() - started)}\n`);
    throw error;
  }
}

/** @param {number} milliseconds @returns {string} for example `0.4 s`, `86 s`, `3 min 20 s` */
export function seconds(milliseconds) {
  const whole = milliseconds / 1000;
  if (whole < 10) return `${whole.toFixed(1)} s`;
  if (whole < 120) return `${Math.round(whole).toFixed(0)} s`;
  return `${Math.floor(whole / 60).toFixed(0)} min ${Math.floor(whole % 60).toFixed(0)} s`;
}

/**
 * Runs a command's main function, whose result becomes the exit status. A {@link SetupFault} is printed as its message,
 * any other error with its stack.
 *
 * @param {() => Promise<number>} command resolves to the exit status
 * @returns {Promise<void>}
 */
export async function main(command) {
  // Without a listener a signal would skip the 'exit' listeners that end child processes and remove locks.
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGTERM', () => process.exit(143));
  process.on('SIGHUP', () => process.exit(129));
  try {
    process.exitCode = await command();
  } catch (error) {
    console.error(error instanceof SetupFault ? error.message : error);
    process.exitCode = 1;
  }
}
