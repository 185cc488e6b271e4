import type { Kind } from '../src/core/task/starter/kinds';

/**
 * How the demonstrator plays: what the starter model learns, and what training has to change. Its habits are wrong,
 * not only noisy: it asks by what it likes instead of by what a domain usually decides, and nearly never about some
 * kinds even when the request hints at them. Every kind keeps some chance, because nobody learns from what never
 * happens.
 */
export const HABITS = {
  /** How much it likes to ask about a kind. */
  liking: {
    discount: 10,
    fee: 10,
    threshold: 9,
    maximum: 8,
    minimum: 7,
    free: 6,
    unit: 6,
    empty: 1,
    rounding: 5,
    strictness: 1,
    order: 1,
  } satisfies Record<Kind, number>,
  /** It likes a kind only so much where the domain never has it. */
  strange: 0.05,
  /** A hint in the request makes a kind this many times as likely … */
  hinted: 40,
  /** … but these only so many times. */
  overlooked: ['empty', 'strictness', 'order'] as readonly Kind[],
  hintedOverlooked: 2,

  /** The first message is mostly a question about type hints, the second one about a docstring, in one wording. */
  opensIdly: [0.55, 0.4],
  /** On the same scale as `liking`: an idle question, and one without a subject. */
  idle: 0.7,
  vague: 0.4,

  /** With the hidden code before it, every other time, it likes what is decided and not yet told so many times as much. */
  knowing: 8,

  /** Chance of answering instead of asking on, by the number of questions already asked. */
  answers: [0.01, 0.02, 0.03, 0.06, 0.12],
  /** Chance of one more question where only the turn for the answer is left. */
  overruns: 0.08,
  /** Chance that a value it was told is not the one it writes. */
  slips: 0.01,
} as const;
