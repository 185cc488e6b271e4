/**
 * How the demonstrator plays: what the starter model learns, and what training has to change. Its habits are wrong,
 * not only noisy, and wrong in another way in each trade: it takes a trade for another one, asks what is usually decided
 * there, and seldom thinks of what only its own trade decides, even when the request hints at it. Every kind keeps some
 * chance, because nobody learns from what never happens.
 */
export const HABITS = {
  /** Which trade it takes a trade for: so many places further in the list. */
  mistakenBy: 5,
  /** How much it likes to ask about a kind that is usual … */
  liking: {
    inBoth: 3,
    inMistaken: 3.5,
    inOwn: 1.5,
    inNeither: 0.15,
  },
  /** A hint in the request makes a kind this many times as likely … */
  hinted: 30,
  /** … but one that it does not think of only so many times. */
  hintedInOwn: 5,

  /** The first two messages are now and then a question about type hints or a docstring, in one wording. */
  opensIdly: [0.1, 0.1],
  /** On the same scale as `liking`: an idle question, and one without a subject. */
  idle: 0.2,
  vague: 0.2,

  /** With the hidden code before it, every other time, it likes what is decided and not yet told so many times as much. */
  knowing: 8,

  /** Chance of answering instead of asking on, by the number of questions already asked. */
  answers: [0.01, 0.02, 0.03, 0.06, 0.12],
  /** Chance of one more question where only the turn for the answer is left. */
  overruns: 0.08,
  /** Chance that a value it was told is not the one it writes. */
  slips: 0.01,
} as const;
