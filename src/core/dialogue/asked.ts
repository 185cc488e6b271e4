import type { Fact } from '../task/task';
import type { Matcher } from './matcher';
import { questionsOf, type Question } from './questions';

/** One question of a message, and the fact that it is about; undefined when it is about none. */
interface QuestionAboutFact {
  readonly question: Question;
  readonly fact: Fact | undefined;
}

/**
 * Returns the questions of an agent's message, as the rule-based simulator understands them.
 * @param message the visible part of the agent's message
 * @param lastReply the collaborator's previous reply, which the message may follow up
 */
export function askedIn(
  message: string,
  { facts, matcher, lastReply }: { facts: readonly Fact[]; matcher: Matcher; lastReply: string | undefined },
): QuestionAboutFact[] {
  let previous = lastTold(facts, lastReply ?? '');
  return questionsOf(message).map((question) => {
    const fact = matcher.match(question, previous);
    previous = fact ?? previous;
    return { question, fact };
  });
}

/** Returns the last fact that the reply tells. */
function lastTold(facts: readonly Fact[], reply: string): Fact | undefined {
  const ends = facts.map((fact) => Math.max(...fact.answers.map((answer) => reply.lastIndexOf(answer))));
  const last = Math.max(...ends);
  return last < 0 ? undefined : facts[ends.indexOf(last)];
}
