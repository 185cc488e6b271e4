import * as z from 'zod';
import type { CollectionPlan } from '../dialogue/collect';
import { Fault } from '../fault';
import type { Model } from '../model/model';
import type { Run } from '../training/runs';
import { refusalOf, type Schema } from '../training/schema';
import type { TrajectoryLog } from '../trajectory/log';

/** Result of a tool: short text for a model to read, and the same as an object. Neither holds hidden information. */
export interface ToolResult {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One call of a tool. */
export interface ToolCall {
  /** Aborted when whoever called cancels. */
  readonly signal: AbortSignal;
  /**
   * Receives the progress of long work.
   * @param message a sentence without a full stop
   */
  readonly report: (message: string, done?: number, total?: number) => void;
}

/**
 * `reads`: nothing is changed. `adds`: something is written or started beside what there is. `interrupts`: work that
 * goes on is ended.
 */
type ToolEffect = 'reads' | 'adds' | 'interrupts';

/** A tool that an agent can call, in the editor or through `tandem mcp`. */
export interface Tool {
  readonly title: string;
  /** Description for a person, one sentence. */
  readonly about: string;
  /** Description for a model. */
  readonly description: string;
  readonly effect: ToolEffect;
  /** True when models are asked, which may be on servers elsewhere. */
  readonly asksModels: boolean;
  /** JSON schema of the input. */
  readonly inputSchema: Schema;
  /**
   * Returns a sentence on input that the tool refuses; undefined when it fits.
   * @param given anything
   */
  readonly refusal: (given: unknown) => string | undefined;
  /**
   * Does what the tool is for.
   * @param given the input, which may be anything
   * @throws {Fault} `tools/bad-input`, and the faults of what it does
   */
  readonly call: (given: unknown, at: Workplace, call: ToolCall) => Promise<ToolResult>;
}

/** The players of one call, and how they play. */
export interface OpenPlay extends Omit<
  CollectionPlan,
  'agent' | 'tasks' | 'rollouts' | 'collection' | 'signal' | 'onProgress'
> {
  readonly agents: readonly Model[];
  /** Closes what was opened for this call. */
  close(): Promise<void>;
}

export interface PlayRequest {
  /** An evaluation plays greedily unless the settings say otherwise. */
  readonly purpose: 'collection' | 'evaluation';
  /** Models as on the command line; empty for the agent of the settings. */
  readonly agents: readonly string[];
  /** `rules` or a model; undefined for the simulator of the settings. */
  readonly simulator?: string;
  /** Absolute paths of the packs to play. */
  readonly packs: readonly string[];
}

interface RunRequest {
  /** A configuration as JSON; it may be anything. */
  readonly configuration: unknown;
  /** The name of the configuration in error messages. */
  readonly from: string;
  /** Base of the configuration's relative paths. */
  readonly folder: string;
}

/** Where the tools work: a folder with its settings, in the editor or in a terminal. */
export interface Workplace {
  /** Base of relative paths, absolute. */
  readonly folder: string;
  /**
   * The data folder, absolute.
   * @throws {Fault} `editor/no-folder`
   */
  readonly dataFolder: string;
  /** Returns the absolute paths of the packs that may be played. */
  packs(): Promise<readonly string[]>;
  /**
   * Calls `use` with the log of the data folder.
   * @throws {Fault} as `TrajectoryLog.open`
   */
  withLog<T>(use: (log: TrajectoryLog) => T): Promise<T>;
  /** @throws {Fault} when a model cannot be opened or there is no folder to log into */
  openPlay(request: PlayRequest): Promise<OpenPlay>;
  /**
   * @returns undefined when a person declined
   * @throws {Fault} as `startRun`
   */
  startRun(request: RunRequest, call: ToolCall): Promise<Run | undefined>;
}

/** Number of remarks on single lines that a result holds; a model reads them all. */
const MAX_REMARKS = 20;

/** Returns the first remarks, and how many more there are. */
export const firstOf = (remarks: readonly string[]): string[] =>
  remarks.length <= MAX_REMARKS
    ? [...remarks]
    : [...remarks.slice(0, MAX_REMARKS), `${remarks.length - MAX_REMARKS} more lines are left out as well.`];

interface ToolDefinition<Input extends z.ZodObject> extends Omit<Tool, 'inputSchema' | 'refusal' | 'call'> {
  readonly input: Input;
  readonly run: (input: z.output<Input>, at: Workplace, call: ToolCall) => Promise<ToolResult>;
}

/** Makes a tool that reads its input before it does anything. */
export function defineTool<Input extends z.ZodObject>({ input, run, ...about }: ToolDefinition<Input>): Tool {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  const inputSchema = schema as Schema;
  const refusal = (given: unknown): string | undefined => {
    const sentence = refusalOf(inputSchema, given, 'input');
    return sentence === undefined ? undefined : `${sentence}.`;
  };
  return {
    ...{ ...about, inputSchema, refusal },
    call: async (given, ...rest) => {
      const refused = refusal(given);
      if (refused !== undefined) throw new Fault('tools/bad-input', refused);
      return run(input.parse(given), ...rest);
    },
  };
}
