import type { PageDecision } from '../../../src/core/task/starter/pages/world';

/**
 * Habits of the demonstrator of pages, which the starter model learns and training has to change. It mistakes each
 * trade for another one and makes its page look like that one's; of what it is told it overlooks some things more often
 * than not; it stops before the page is right. Everything better keeps some probability.
 */
export const PAGE_HABITS = {
  /** Offset in the list of trades to the one for which it mistakes a trade. */
  mistakenBy: 5,
  /** Probability that it knows a trade after all. */
  recognizes: 0.42,
  /** Weights of the values of a first draft: as the trade that it thinks of has it, as the other one has it, any. */
  first: { thought: 0.85, other: 0.1, any: 0.08 },
  /** Factor on the weight of the wanted value when the demonstrator sees the wanted page. */
  knowing: 4,

  /** Probability that the next draft has what was just told, and for what is seldom looked at. */
  applies: 0.97,
  appliesOverlooked: 0.35,
  overlooked: ['corners', 'columns', 'foot'] satisfies readonly PageDecision[] as readonly PageDecision[],
  /** Probability that a draft loses something that the one before it had been changed to. */
  forgets: 0.03,

  /** Probability that a draft is announced as the answer, by its number, while something is left to change. */
  stops: [0.02, 0.06, 0.15],
  /** The same for a draft after the collaborator said that nothing is left to change, and for the last draft. */
  finishes: 0.95,
  closes: 0.9,
} as const;
