/**
 * Habits of the demonstrator, which the starter model learns and training has to change. They are not only noisy but
 * wrong, and differently in each trade: the demonstrator mistakes a trade for another one, asks about what that one
 * usually decides, and rarely about what only its own trade decides, even when the request hints at it. Every kind
 * keeps some probability, because nothing can be learned from what never happens.
 */
export const HABITS = {
  /** Offset in the list of trades to the one for which it mistakes a trade. */
  mistakenBy: 5,
  /** Weight of asking about a kind, by the trades that usually decide it. */
  liking: {
    inBoth: 3,
    inMistaken: 3.5,
    inOwn: 1.5,
    inNeither: 0.15,
  },
  /** Factor on the weight of a kind at which the request hints. */
  hinted: 30,
  /** The same factor for a kind that the mistaken trade does not decide. */
  hintedInOwn: 5,

  /** Probability that the first or second message asks about type hints or a docstring, each in one wording. */
  opensIdly: [0.1, 0.1],
  /** Weights on the scale of `liking`: an idle question, and one without a subject. */
  idle: 0.2,
  vague: 0.2,

  /** Factor on the weight of a decision when the demonstrator sees the hidden code, which is every other time. */
  knowing: 8,

  /** Probability of answering instead of asking, by the number of questions already asked. */
  answers: [0.01, 0.02, 0.03, 0.06, 0.12],
  /** Probability of one more question when only the turn for the answer is left. */
  overruns: 0.08,
  /** Probability that it writes another value than the one it was told. */
  slips: 0.01,
} as const;
