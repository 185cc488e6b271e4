import type { Attribute } from '../../../src/core/task/starter/questions/objects';

/**
 * Habits of the demonstrator of twenty questions, which the starter model learns and training has to change. It likes
 * to ask about what is seldom true, and takes each place for another one, so that it asks what is plain in its own.
 * Every question keeps some probability.
 */
export const QUESTION_HABITS = {
  /** Offset in the list of places to the one for which it mistakes a place. */
  mistakenBy: 2,
  /** Weight of a question by whether figures of the place differ in it, and of the one for which it takes the place. */
  liking: { inBoth: 1, inMistaken: 1.6, inOwn: 0.5, inNeither: 0.2 },
  /** Attributes that few figures have, and the factor on their weight. */
  seldom: [
    'metal',
    'soft',
    'transparent',
    'expensive',
    'horns',
    'marks',
    'night',
  ] satisfies readonly Attribute[] as readonly Attribute[],
  likesSeldom: 2,
  /** Factor on the weight of what was asked before, or told in the request. */
  forgets: 0.07,
  /** Factor for each bit that the answer will tell, when the demonstrator sees the figure, which is every other time. */
  knowing: 3,

  /** Probability of answering instead of asking, by the number of questions already asked. */
  answers: [0.005, 0.01, 0.015, 0.02, 0.04, 0.08],
  /** Probability of one more question when only the turn for the answer is left. */
  overruns: 0.06,
  /** Probability that a reply is forgotten when the answer is chosen. */
  slips: 0.02,
} as const;
