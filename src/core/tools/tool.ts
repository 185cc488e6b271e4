import * as z from 'zod';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { CollectionPlan } from '../dialogue/collect';
import { Fault, messageOf } from '../fault';
import type { Model } from '../model/model';
import type { Run } from '../training/runs';
import { refusalOf, type Schema } from '../training/schema';
import { inOneLine, printable } from '../text';
import type { TrajectoryLog } from '../trajectory/log';

/** Short text for a model to read, and the same as an object. Neither holds hidden information. Both are bounded. */
export interface ToolResult {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface ToolReport {
  /** Texts that may come from anywhere: each becomes one line of the result. */
  readonly lines: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ToolCall {
  /** Aborts when the caller cancels. */
  readonly signal: AbortSignal;
  /** @param message a sentence without a full stop */
  readonly report: (message: string, done?: number, total?: number) => void;
}

/** Called by an agent, in the editor or through `tandem mcp`. */
export interface Tool {
  readonly title: string;
  /** For a person, one sentence. */
  readonly about: string;
  readonly description: string;
  /** `reads`: nothing is changed. `adds`: something is written or started. `interrupts`: running work is ended. */
  readonly effect: 'reads' | 'adds' | 'interrupts';
  /** Models are asked, which may be on servers elsewhere. */
  readonly asksModels: boolean;
  readonly inputSchema: Schema;
  /**
   * One sentence; undefined when the input fits.
   * @param given anything
   */
  readonly refusal: (given: unknown) => string | undefined;
  /**
   * @param given the input, which may be anything
   * @throws {Fault} `tools/bad-input`, and the faults of the work
   */
  readonly call: (given: unknown, at: Workplace, call: ToolCall) => Promise<ToolResult>;
}

/** The players of one call, with their settings. */
export interface OpenPlay extends Omit<
  CollectionPlan,
  'agent' | 'tasks' | 'rollouts' | 'collection' | 'signal' | 'onProgress'
> {
  readonly agents: readonly Model[];
  /** Closes everything that was opened for this call. */
  close(): Promise<void>;
}

export interface PlayRequest {
  /** An evaluation plays greedily unless the settings say otherwise. */
  readonly purpose: 'collection' | 'evaluation';
  /** As on the command line; empty for the agent of the settings. */
  readonly agents: readonly string[];
  /** `rules` or a model; undefined for the simulator of the settings. */
  readonly simulator?: string;
  /** Absolute paths. */
  readonly packs: readonly string[];
}

interface RunRequest {
  /** JSON, unchecked. */
  readonly configuration: unknown;
  readonly from: string;
  /** Base of the configuration's relative paths. */
  readonly folder: string;
}

/** A folder with its settings, in the editor or in a terminal. */
export interface Workplace {
  /** Base of relative paths, absolute. */
  readonly folder: string;
  /**
   * Absolute.
   * @throws {Fault} `editor/no-folder`
   */
  readonly dataFolder: string;
  /** Absolute paths of the packs that may be played. */
  packs(): Promise<readonly string[]>;
  /** @throws {Fault} as `TrajectoryLog.open` */
  withLog<T>(use: (log: TrajectoryLog) => T): Promise<T>;
  /** @throws {Fault} when a model cannot be opened or there is no folder to log into */
  openPlay(request: PlayRequest): Promise<OpenPlay>;
  /**
   * @returns undefined when a person declined
   * @throws {Fault} as `startRun`
   */
  startRun(request: RunRequest, call: ToolCall): Promise<Run | undefined>;
}

const MAX_LINE_CHARS = 1000;
const MAX_TEXT_CHARS = 30_000;
const MAX_DATA_CHARS = 60_000;
/** Packs, runs and groups that one result lists. */
export const MAX_LISTED = 100;

/** Quotes of what a file holds, which may be any file that a model names. */
const EXCERPT = /, (?:\.\.\.)?"[^]{0,80}?"(?:\.\.\.)?(?= is not valid JSON)/g;

/** A line that a driving model reads: names in it cannot pass for other lines. */
export function lineFor(text: string): string {
  const line = printable(inOneLine(text.replace(EXCERPT, '')));
  return line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}…`;
}

/** The sentence of an error, for a driving model. */
export const sentenceFor = (error: unknown): string => lineFor(messageOf(error));

function resultOf({ lines, data }: ToolReport): ToolResult {
  const shown: string[] = [];
  let length = 0;
  for (const line of lines.map(lineFor)) {
    length += line.length;
    if (length > MAX_TEXT_CHARS) break;
    shown.push(line);
  }
  if (shown.length < lines.length) shown.push(`${lines.length - shown.length} more lines are left out.`);
  const isLong = JSON.stringify(data).length > MAX_DATA_CHARS;
  if (isLong) shown.push('The data of this result are left out, because they are too long.');
  return { text: shown.join('\n'), data: isLong ? {} : data };
}

/** True if the file, with its links followed, is in one of the folders. */
export async function isWithin(file: string, folders: readonly string[]): Promise<boolean> {
  // What is not there is refused when it is opened.
  const real = (one: string): Promise<string> => realpath(one).catch(() => path.resolve(one));
  const at = await real(file);
  for (const folder of folders) {
    const way = path.relative(await real(folder), at);
    if (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way)) return true;
  }
  return false;
}

/** A model reads all remarks, so there are few. */
const MAX_REMARKS = 20;

/** And the number of the others. */
export const firstOf = (remarks: readonly string[]): string[] =>
  remarks.length <= MAX_REMARKS
    ? [...remarks]
    : [...remarks.slice(0, MAX_REMARKS), `${remarks.length - MAX_REMARKS} more lines are left out as well.`];

interface ToolDefinition<Input extends z.ZodObject> extends Omit<Tool, 'inputSchema' | 'refusal' | 'call'> {
  readonly input: Input;
  readonly run: (input: z.output<Input>, at: Workplace, call: ToolCall) => Promise<ToolReport>;
}

/** The input is parsed before `run` is called. */
export function defineTool<Input extends z.ZodObject>({ input, run, ...about }: ToolDefinition<Input>): Tool {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  const inputSchema = schema as Schema;
  const refusal = (given: unknown): string | undefined => {
    const sentence = refusalOf(inputSchema, withoutNulls(given), 'input');
    return sentence === undefined ? undefined : `${sentence}.`;
  };
  return {
    ...{ ...about, inputSchema, refusal },
    call: async (given, ...rest) => {
      const refused = refusal(given);
      if (refused !== undefined) throw new Fault('tools/bad-input', refused);
      return resultOf(await run(input.parse(withoutNulls(given)), ...rest));
    },
  };
}

/** Models write `null` for a field, or for the whole input, that they leave out. */
export function withoutNulls(given: unknown): unknown {
  if (given === null || given === undefined) return {};
  if (typeof given !== 'object' || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
