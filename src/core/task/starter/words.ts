import type { Domain } from './domains';
import { EXTRA, type DecisionKind, type Value, type FunctionForm } from './program';

/**
 * Wordings of the starter world. What a collaborator says of one decision shares no word with questions about another,
 * not even "hours": the rules simulator goes by words, and has to see that a question is about nothing the task has.
 */

type DomainWord = 'quantity' | 'one' | 'entry' | 'result' | 'discount' | 'fee' | 'extra';

/** Fills in the domain's words: {quantity}, {one} and so on. */
export const inWordsOf = (domain: Domain, text: string): string =>
  text.replace(/\{(\w+)\}/g, (_, word: DomainWord) => domain[word]);

export const ARGUMENTS: Readonly<Record<FunctionForm, readonly string[]>> = {
  amount: [
    'You get the number of {quantity} and the rate per {one}.',
    'It takes the {quantity} and the rate for one {one}.',
  ],
  list: [
    'You get a list with the {quantity} of every {entry}, and the rate per {one}.',
    'The {quantity} come as a list, one number per {entry}, with the rate for one {one}.',
  ],
  base: [
    'You get the {quantity}, the rate per {one} and a base {result} to start from.',
    'There is a base {result}, and each of the {quantity} adds the rate.',
  ],
};

/**
 * An agent's questions about each decision, whether the task has it or not. The first word tells the kind, and no two
 * kinds share one: the topic of a question is decided at once, so that a small model can keep in mind what it has
 * asked. When questions began alike ("How large is the …"), it asked again what it had asked, however it was trained.
 */
export const QUESTIONS: Readonly<Record<DecisionKind, readonly string[]>> = {
  empty: [
    'Empty input: what should I return?',
    'Zero {quantity}: what should I give back?',
    'No {quantity} at all: what is the {result}?',
  ],
  free: [
    'Free {quantity}: how many are there?',
    'Free part: are some {quantity} free?',
    'Free of charge: how many {quantity} does one get?',
  ],
  threshold: [
    'Limit for the {extra}: what is it?',
    'Limit: at how many {quantity} does the {extra} start?',
    'Limit: is there a {extra} for many {quantity}?',
  ],
  strictness: [
    'Exactly that many {quantity}: do they count already?',
    'Exact number of {quantity}: is it included?',
    'Strict comparison of the {quantity}: do you want that?',
  ],
  discount: [
    'Percent of the {discount}: how many?',
    'Percent: how large is the {discount}?',
    'Percent to take off as {discount}: how many?',
  ],
  fee: [
    'Amount of the {fee}: how much is it?',
    'Amount: how large is the {fee}?',
    'Amount to add as {fee}: how much?',
  ],
  order: [
    'Order: how do I work out the {result}?',
    'Steps: which comes first for the {result}?',
    'Order of the steps for the {result}: which is it?',
  ],
  minimum: [
    'Minimum {result}: what is it?',
    'Low: how low can the {result} be?',
    'Lowest {result}: is there one?',
  ],
  maximum: [
    'Maximum {result}: what is it?',
    'High: how high can the {result} be?',
    'Highest {result}: is there one?',
  ],
  rounding: [
    'Rounding: how should I round the {result}?',
    'Round the {result} up or down?',
    'Rounding of the {result}: which way?',
  ],
  unit: [
    'Unit: which do you want for the {result}?',
    'Unit of the {result}: what factor turns it into yours?',
    'Factor: by what should I multiply the {result}?',
  ],
};

interface Topic {
  readonly topic: string;
  readonly keywords: readonly string[];
}

export const TOPICS: Readonly<Record<DecisionKind, Topic>> = {
  empty: { topic: 'empty case', keywords: ['empty', 'zero', 'at all'] },
  free: { topic: 'free part', keywords: ['free'] },
  threshold: { topic: 'limit', keywords: ['limit', '{extra}', 'start'] },
  strictness: { topic: 'boundary', keywords: ['exactly', 'exact', 'included', 'strict'] },
  discount: { topic: 'discount', keywords: ['{discount}', 'percent'] },
  fee: { topic: 'fee', keywords: ['{fee}'] },
  order: { topic: 'order', keywords: ['order', 'step', 'comes first'] },
  minimum: { topic: 'minimum', keywords: ['minimum', 'low', 'lowest'] },
  maximum: { topic: 'maximum', keywords: ['maximum', 'high', 'highest'] },
  rounding: { topic: 'rounding', keywords: ['round', 'rounding', 'rounded'] },
  unit: { topic: 'unit', keywords: ['unit', 'factor', 'multiply'] },
};

const NUMBERS: Readonly<Partial<Record<DecisionKind, readonly string[]>>> = {
  empty: ['Return {value} then.', 'Just give back {value}.', 'It should be {value} then.'],
  free: ['{value} of them are free.', 'We give {value} for free.', 'There are {value} free ones.'],
  threshold: [
    `The limit is {value}, then it is ${EXTRA} more.`,
    `Use {value} as the limit, with ${EXTRA} on top.`,
    `{value} is the limit for ${EXTRA} more.`,
  ],
  discount: ['Take {value} percent off.', 'It is {value} percent.', 'We take off {value} percent.'],
  fee: ['Add {value} for it.', 'It is {value} each time.', 'We add {value} for that.'],
  minimum: ['The minimum is {value}.', 'Never less than {value}.', 'It should not be lower than {value}.'],
  maximum: ['The maximum is {value}.', 'Please cap it at {value}.', 'It should not be higher than {value}.'],
  unit: ['Multiply it by {value}.', 'The factor is {value}.', 'Use a factor of {value}.'],
};

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  '>': ['Only more than that counts.', 'Exactly that does not count yet.', 'It has to be strictly more.'],
  '>=': ['Exactly that counts too.', 'That one is included.', 'It counts from there on.'],
  'discount first': [
    'First the {discount}, then the {fee}.',
    'The {discount} comes before the {fee}.',
    'Add the {fee} after the {discount}.',
  ],
  'fee first': [
    'First the {fee}, then the {discount}.',
    'The {fee} comes before the {discount}.',
    'Take the {discount} after the {fee}.',
  ],
  up: ['Always round up.', 'Please round it up.', 'Up, always.'],
  nearest: ['Round to the nearest.', 'Take the nearest whole number.', 'The nearest, please.'],
  down: ['Always round down.', 'Please round it down.', 'Just drop the decimals.'],
};

export function answersFor(kind: DecisionKind, value: Value): readonly string[] {
  const answers = NUMBERS[kind]?.map((text) => text.replace('{value}', String(value))) ?? CHOICES[value];
  if (answers === undefined) throw new Error(`Nobody can say ${kind} ${value}.`);
  return answers;
}

export const IDLE_QUESTIONS = {
  hints: ['Do you want type hints?', 'Should I add type hints?'],
  docstring: ['Do you want a docstring?', 'Should I write a docstring?'],
  logging: ['Do you need logging?', 'Should I add some logging?'],
  comments: ['Do you want comments?', 'Should I write comments?'],
  version: ['Which Python version do you use?', 'What version of Python is this for?'],
  library: ['May I use a library?', 'Is there a library that you use?'],
  deadline: ['When is the deadline?', 'Is there a deadline for the {result}?'],
  team: ['Which team will use it?', 'Who in your team needs the {result}?'],
  negative: ['Should I check for negative {quantity}?', 'What about negative {quantity}?'],
} as const;

export const VAGUE_QUESTIONS: readonly string[] = [
  'Anything else I should know?',
  'Are there any other rules?',
  'Can you tell me the details?',
];
