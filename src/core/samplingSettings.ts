import { boundsOf, type Bounds, type NumberRange } from './numberRange';

interface SamplingNumber extends NumberRange {
  /** Name in the API of servers. */
  readonly field: string;
  /** Option of the command line, and what its help says. */
  readonly flag: string;
  readonly help: string;
  /** Of the editor's setting, which may have narrower bounds. */
  readonly default: number;
  readonly editor?: Bounds;
  /** The value that changes nothing; absent if every value does. */
  readonly off?: number;
  /** For servers, where it differs from `off`. */
  readonly serverOff?: number;
  /** In requests to Tandem's own server, where they differ. */
  readonly requests?: Bounds;
}

/**
 * In the order of the settings, the options and the log. Everything that sets, sends or logs them loops over this table,
 * except `model/local/sampling.ts`, which draws with them, and the words of the editor.
 */
export const samplingNumbers = {
  /** 0 is greedy. */
  temperature: {
    type: 'number',
    minimum: 0,
    field: 'temperature',
    flag: '--temperature <t>',
    help: 'temperature of the agent; 0 is greedy',
    default: 1,
    editor: { maximum: 2 },
  },
  /** Nucleus probability. */
  topP: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 1,
    field: 'top_p',
    flag: '--top-p <p>',
    help: 'sample from the most likely tokens that together have this probability',
    default: 1,
    off: 1,
    requests: { minimum: 0, maximum: 1 },
  },
  /** Number of the most likely tokens to sample from. */
  topK: {
    type: 'integer',
    minimum: 0,
    field: 'top_k',
    flag: '--top-k <k>',
    help: 'sample from this many of the most likely tokens; 0 from all',
    default: 0,
    editor: { maximum: 1_000_000 },
    off: 0,
    // SGLang and older vLLM refuse 0; others refuse negative numbers and get `off`.
    serverOff: -1,
    requests: { minimum: -1 },
  },
  /** Share of the most likely token's probability below which tokens are left out (arXiv 2407.01082). */
  minP: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    field: 'min_p',
    flag: '--min-p <p>',
    help: 'sample from tokens that are at least p times as likely as the most likely one',
    default: 0,
    off: 0,
  },
  maxTokens: {
    type: 'integer',
    minimum: 1,
    field: 'max_tokens',
    flag: '--max-tokens <n>',
    help: 'maximum number of tokens in an agent turn',
    default: 1024,
    editor: { minimum: 16, maximum: 32768 },
  },
} as const satisfies Readonly<Record<string, SamplingNumber>>;

/**
 * The order in which they apply, by their fields: vLLM's, which no request can change. llama.cpp takes it with each
 * request; its own default, like the fixed order of SGLang, has min-p after top-p, which keeps more tokens if both are on.
 */
export const SAMPLING_ORDER = ['temperature', 'min_p', 'top_k', 'top_p'] as const;

type Table = typeof samplingNumbers;
export type SamplingName = keyof Table;
export type SamplingField = Table[SamplingName]['field'];
/** Those that a server can switch off. */
export type TruncationField = Extract<Table[SamplingName], { readonly off: number }>['field'];

type Setting = SamplingNumber & { readonly field: SamplingField };

export const samplingEntries = Object.entries(samplingNumbers) as readonly [SamplingName, Setting][];

/** Makes an object with a member for each number. */
export function eachSamplingNumber<Value>(
  make: (name: SamplingName, setting: Setting) => Value,
): Record<SamplingName, Value> {
  const made = samplingEntries.map(([name, setting]) => [name, make(name, setting)]);
  return Object.fromEntries(made) as Record<SamplingName, Value>;
}

/** What a model is asked for with each turn. Absent and `off` mean the same. */
export interface SamplingSettings extends Readonly<Partial<Record<SamplingName, number>>> {
  readonly temperature: number;
  readonly maxTokens: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
}

/** Range of the field in a request to Tandem. */
export const requestRange = ({ requests, ...setting }: SamplingNumber): NumberRange => ({
  type: setting.type,
  ...(requests ?? boundsOf(setting)),
});

/** The setting that a field in a request asks for. */
export const fromField = (value: number, { off, serverOff }: SamplingNumber): number =>
  value === serverOff && off !== undefined ? off : value;
