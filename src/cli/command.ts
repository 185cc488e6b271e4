import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { Fault } from '../core/fault';
import { isWithin, rangeWords, type NumberRange } from '../core/numberRange';

/** With `--json` it is printed as one object, otherwise by `print`. */
export interface CommandResult {
  /** One object per row of input or output; a stream when they may exceed memory. */
  readonly rows?: readonly unknown[] | AsyncIterable<unknown>;
  readonly summary: object;
  /** For a person; a stream of lines when they may exceed memory. */
  readonly print: () => string | AsyncIterable<string>;
  /** The command finished but must fail, e.g. because of a bad line. */
  readonly failed?: boolean;
  readonly close?: () => Promise<void>;
}

export interface CliContext {
  /** Files that are read at run time: grader, interpreter, prompts. */
  readonly assets: string;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
  /** Sets the sentence that Ctrl+C prints, for commands with work that continues without them. */
  readonly onInterrupt: (sentence: string) => void;
}

/** Makes the handler of a command: what it does gets the arguments and options that Commander has read. */
export type Perform = <Given extends readonly unknown[]>(
  action: (...given: [...Given, CliContext]) => Promise<CommandResult>,
) => (...given: Given) => Promise<void>;

export type Install = (program: Command, perform: Perform) => void;

/** Exit code 2. */
export const wrongUse = (sentence: string): Fault => new Fault('usage', sentence);

export function refuseToReplace(file = '', overwrite = false): void {
  if (existsSync(file) && !overwrite)
    throw wrongUse(`${file} is there already; add --overwrite to replace it.`);
}

export function wholeNumber(option: string, least = 0): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
    throw wrongUse(`${option} takes a whole number of at least ${least}, not "${text}".`);
  };
}

export const numberIn =
  (range: NumberRange) =>
  (option: string) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && isWithin(value, range)) return value;
    throw wrongUse(`${option} takes ${rangeWords(range)}, not "${text}".`);
  };

export const minutes = numberIn({ type: 'number', exclusiveMinimum: 0, maximum: 30_000 });
export const fraction = numberIn({ type: 'number', minimum: 0, maximum: 1 });

/** Ctrl+C, SIGTERM or, with `withInput`, the end of standard input. */
export async function untilStopped(signal: AbortSignal, withInput = false): Promise<void> {
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
