import type { Command } from 'commander';
import { Fault } from '../core/fault';
import type { ListenPlace } from '../core/serving/listener';

/** Result of a command. With `--json` it is printed as one object, otherwise by `print`. */
export interface CommandResult {
  /** One object per row of input or output, if there are rows; a stream when they may exceed memory. */
  readonly rows?: readonly unknown[] | AsyncIterable<unknown>;
  readonly summary: object;
  /** Returns the text for a person, or a stream of its lines. */
  readonly print: () => string | AsyncIterable<string>;
  /** True when the command finished but must fail, e.g. because of a bad line. */
  readonly failed?: boolean;
  /** Called after everything is printed. */
  readonly close?: () => Promise<void>;
}

/** Context that every command receives. */
export interface CliContext {
  /** Folder of the files that are read at run time: grader, interpreter, prompts. */
  readonly assets: string;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
  /** Sets the sentence that Ctrl+C prints from now on, for commands whose work continues without them. */
  readonly onInterrupt: (sentence: string) => void;
}

/** Adds one command to the program. */
export type Install = (
  program: Command,
  run: (action: (surroundings: CliContext) => Promise<CommandResult>) => Promise<void>,
) => void;

/** Makes a fault for wrong use of the command line, exit code 2. */
export const wrongUse = (sentence: string): Fault => new Fault('usage', sentence);

/** Reads a whole number of at least `least` from an option. */
export function wholeNumber(option: string, least = 0): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
    throw wrongUse(`${option} takes a whole number of at least ${least}, not "${text}".`);
  };
}

/** Returns a reader of finite numbers from an option; `range` names the allowed ones in its error message. */
const numberWhere =
  (range: string, fits: (value: number) => boolean) =>
  (option: string) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isFinite(value) && fits(value)) return value;
    throw wrongUse(`${option} takes a number ${range}, not "${text}".`);
  };

export const nonNegative = numberWhere('of at least 0', (value) => value >= 0);
export const minutes = numberWhere('above 0 and at most 30000', (value) => value > 0 && value <= 30_000);
export const share = numberWhere('above 0 and at most 1', (value) => value > 0 && value <= 1);
export const fraction = numberWhere('from 0 to 1', (value) => value >= 0 && value <= 1);

/** The place of a server, and whether the end of its standard input ends it. */
export interface ServedAt extends ListenPlace {
  readonly endWithInput: boolean;
}

/** Resolves at Ctrl+C, when the system asks the process to end, and with `withInput` when standard input ends. */
export async function untilStopped(signal: AbortSignal, withInput: boolean): Promise<void> {
  let stop = (): void => undefined;
  await new Promise<void>((resolve) => {
    stop = resolve;
    if (signal.aborted) resolve();
    signal.addEventListener('abort', stop, { once: true });
    process.once('SIGTERM', stop);
    if (withInput) process.stdin.once('end', stop).once('error', stop).resume();
  });
  process.off('SIGTERM', stop);
}
