import type { Command } from 'commander';
import { Fault } from '../core/fault';

/** What a command found. `--json` prints it as one object; otherwise `print` says it in words. */
export interface Outcome {
  /** One per row of input or output, where there are rows; as a stream where they may be more than memory holds. */
  readonly rows?: readonly unknown[] | AsyncIterable<unknown>;
  readonly summary: object;
  /** For people: the text, or its lines one after the other. */
  readonly print: () => string | AsyncIterable<string>;
  /** The work was done but found something that makes the command fail, e.g. a bad line. */
  readonly failed?: boolean;
  /** Called when all is printed. */
  readonly close?: () => Promise<void>;
}

/** What every command gets from its surroundings. */
export interface Surroundings {
  /** Folder of what is read at run time: grader, interpreter, prompts. */
  readonly assets: string;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
  /** Says what Ctrl+C does from now on, when it does not end the command's work. */
  readonly onInterrupt: (sentence: string) => void;
}

/** Adds one command to the program. */
export type Install = (
  program: Command,
  run: (action: (surroundings: Surroundings) => Promise<Outcome>) => Promise<void>,
) => void;

/** Wrong use of the command line: exit code 2. */
export const wrongUse = (sentence: string): Fault => new Fault('usage', sentence);

/** Reads a whole number of at least `least` from an option. */
export function wholeNumber(option: string, least = 0): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
    throw wrongUse(`${option} takes a whole number of at least ${least}, not "${text}".`);
  };
}

/** Reads from an option a finite number that is as `range` says. */
const numberWhere =
  (range: string, fits: (value: number) => boolean) =>
  (option: string) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isFinite(value) && fits(value)) return value;
    throw wrongUse(`${option} takes a number ${range}, not "${text}".`);
  };

export const nonNegative = numberWhere('of at least 0', (value) => value >= 0);
export const share = numberWhere('above 0 and at most 1', (value) => value > 0 && value <= 1);
export const fraction = numberWhere('from 0 to 1', (value) => value >= 0 && value <= 1);
