import type { Fact } from '../task/task';
import type { Matcher } from './matcher';
import { questionsOf, type Question } from './questions';

/** One question of a message, and the fact that it is about; undefined when it is about none. */
export interface Asked {
  readonly question: Question;
  readonly fact: Fact | undefined;
}

/**
 * What a message of the agent asks, as the rule-based simulator understands it.
 * @param message the visible part of the agent's message
 * @param lastReply the collaborator's reply before it, which it may go on about
 */
export function askedIn(
  message: string,
  { facts, matcher, lastReply }: { facts: readonly Fact[]; matcher: Matcher; lastReply: string | undefined },
): Asked[] {
  let previous = lastTold(facts, lastReply ?? '');
  return questionsOf(message).map((question) => {
    const fact = matcher.match(question, previous);
    previous = fact ?? previous;
    return { question, fact };
  });
}

/** The fact that the reply ended with. */
function lastTold(facts: readonly Fact[], reply: string): Fact | undefined {
  const ends = facts.map((fact) => Math.max(...fact.answers.map((answer) => reply.lastIndexOf(answer))));
  const last = Math.max(...ends);
  return last < 0 ? undefined : facts[ends.indexOf(last)];
}
