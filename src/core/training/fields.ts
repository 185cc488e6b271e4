import { PAIRINGS } from '../trajectory/export/pairs';

/**
 * What a single value of a configuration may be, as the trainer's `config.py` declares it, so that a value can be refused
 * where it is typed and before there is an environment to ask. A test compares the two.
 */
export type Kind =
  | { readonly kind: 'text' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** Any of them, or none. */
  | { readonly kind: 'several'; readonly values: readonly string[] }
  | (Limits & { readonly kind: 'number' | 'whole' });

/** Both belong to what is allowed unless they are said to be left out. */
export interface Limits {
  readonly low?: number;
  readonly high?: number;
  readonly withoutLow?: boolean;
  readonly withoutHigh?: boolean;
}

export type Field = Kind & {
  /** What holds when the configuration does not say. */
  readonly default: string | number | boolean | readonly string[] | null;
  /** A word or a flag that may stand in the place of the value. */
  readonly or?: readonly (string | boolean | null)[];
};

const count = { kind: 'whole', low: 1 } as const;
const whole = { kind: 'whole', low: 0 } as const;
const positive = { kind: 'number', low: 0, withoutLow: true } as const;
const notNegative = { kind: 'number', low: 0 } as const;
const share = { kind: 'number', low: 0, high: 1, withoutLow: true } as const;
const partOfAll = { kind: 'number', low: 0, high: 1, withoutHigh: true } as const;

const choice = <const Values extends readonly string[]>(...values: Values) =>
  ({ kind: 'choice', values, default: values[0]! }) as const;

const optimiser = {
  learning_rate: { ...positive, default: null, or: [null] },
  batch: { ...count, default: 8 },
  epochs: { ...positive, default: 1 },
  max_steps: { ...count, default: null, or: [null] },
  max_tokens: { ...count, default: 16_384 },
  warmup: { ...partOfAll, default: 0.03 },
  clip: { ...positive, default: 1 },
  weight_decay: { ...notNegative, default: 0 },
  evaluate_every: { ...count, default: 25 },
  patience: { ...whole, default: 4 },
} as const;

const under = <Prefix extends string, Fields extends object>(prefix: Prefix, fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [`${prefix}.${name}`, field])) as {
    readonly [Name in keyof Fields & string as `${Prefix}.${Name}`]: Field;
  };

/** By its place in the file. Fields that hold files or options of a template are not among them. */
export const fields = {
  name: { kind: 'text', default: '' } as Field,
  method: choice('sweet-rl', 'rft', 'multiturn-dpo') as Field,
  convention: choice('paper', 'reference-code') as Field,
  seed: { ...whole, default: 0 } as Field,
  ...under('model', {
    base: { kind: 'text', default: '' },
    revision: { kind: 'text', default: null, or: [null] },
    training: choice('lora', 'qlora', 'full'),
    lora_rank: { ...count, default: 16 },
    lora_alpha: { ...positive, default: 32 },
    device: choice('auto', 'cuda', 'mps', 'cpu'),
    dtype: choice('auto', 'bfloat16', 'float16', 'float32'),
  }),
  ...under('data', {
    pairing: choice(...PAIRINGS),
    mode: choice('fixed', 'paper'),
    with_leaked: { kind: 'flag', default: false },
    with_doubtful: { kind: 'flag', default: false },
    held_out: { ...partOfAll, default: 0.1 },
    preference_weight: { ...notNegative, default: 1 },
  }),
  ...under('critic', {
    ...optimiser,
    epochs: { ...positive, default: 4 },
    max_tokens: { ...count, default: 8192 },
    score: choice('log-ratio', 'value-head', 'untrained'),
    hidden_information: { kind: 'flag', default: true },
    length_normalisation: { kind: 'flag', default: true },
    beta: { ...positive, default: 0.1 },
    nll: { ...notNegative, default: 0.01 },
  }),
  ...under('candidates', {
    per_turn: { kind: 'whole', low: 2, default: 16 },
    with_logged: { kind: 'flag', default: false },
    pairs_per_turn: { ...count, default: 4 },
    trajectories: { ...share, default: 0.1 },
    rounds: { ...count, default: 1 },
    temperature: { ...positive, default: 1 },
    top_p: { ...share, default: 1 },
    max_new_tokens: { ...count, default: 1024 },
  }),
  ...under('policy', {
    ...optimiser,
    beta: { ...positive, default: 0.1 },
    nll: { ...notNegative, default: 0.01 },
    more_epochs: { ...notNegative, default: 0 },
    minimum_reward: { kind: 'number', default: 1 },
  }),
  ...under('resources', {
    token_budget: { ...count, default: 'auto', or: ['auto'] },
    checkpoint_activations: { kind: 'flag', default: 'auto', or: ['auto'] },
    logits_mb: { ...count, default: 256 },
    checkpoint_minutes: { ...notNegative, default: 10 },
    threads: { ...count, default: null, or: [null] },
    processes: { ...count, default: 1 },
  }),
  ...under('export', { onnx: { kind: 'several', values: ['fp32', 'int8', 'int4'], default: [] } }),
};

export type FieldPath = keyof typeof fields;

export const isFieldPath = (path: string): path is FieldPath => Object.hasOwn(fields, path);

/** Whether the trainer takes the value, as JSON gives it. */
export function allows(field: Field, value: unknown): boolean {
  if (field.or?.some((other) => other === value) === true) return true;
  switch (field.kind) {
    case 'text':
      return typeof value === 'string';
    case 'flag':
      return typeof value === 'boolean';
    case 'choice':
      return typeof value === 'string' && field.values.includes(value);
    case 'several':
      return (
        Array.isArray(value) && value.every((one) => typeof one === 'string' && field.values.includes(one))
      );
    case 'whole':
      return Number.isInteger(value) && isWithin(field, value as number);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) && isWithin(field, value);
  }
}

function isWithin(
  { low = -Infinity, high = Infinity, withoutLow, withoutHigh }: Limits,
  value: number,
): boolean {
  const isAbove = withoutLow === true ? value > low : value >= low;
  const isBelow = withoutHigh === true ? value < high : value <= high;
  return isAbove && isBelow;
}

/** The value that a person has typed; undefined when it is none that the trainer takes. */
export function valueOf(field: Field, text: string): unknown {
  const value = parsed(field, text.trim());
  return allows(field, value) ? value : undefined;
}

function parsed(field: Field, typed: string): unknown {
  const word = field.or?.find((other) => textOf(other) === typed);
  if (word !== undefined) return word;
  switch (field.kind) {
    case 'text':
    case 'choice':
      return typed;
    case 'flag':
      return typed === 'true' ? true : typed === 'false' ? false : undefined;
    case 'several':
      return typed === '' ? [] : typed.split(',').map((one) => one.trim());
    case 'whole':
    case 'number':
      return /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(typed) ? Number(typed) : undefined;
  }
}

/** As a person would type it. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
