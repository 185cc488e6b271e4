import type { Fact, ProgramTask } from '../task/task';
import { certainFacts } from './debrief';
import { matcherOf } from './factMatcher';
import { saysNoPreference } from './noPreference';
import { sentencesOf } from './questions';

/** Says nothing, but has only words that an answer may have, too. */
const ACKNOWLEDGED =
  /^(?:(?:ok|okay|sure|fine|good|great|thanks|right|all right|i see|got it|go (?:on|ahead))\W*)+$/i;

/**
 * Facts that a reply states, in anybody's words: by one of their wordings, by a number that no other fact has, or by a
 * sentence that the matcher of questions assigns to them. A sentence that names several facts counts for the one that
 * was asked about; a sentence that names none ("Yes.", "Always up.") answers the first question without an answer yet.
 * @param asked facts that the message asked about, in order
 */
export function statedFacts(task: ProgramTask, reply: string, asked: readonly Fact[]): ReadonlySet<Fact> {
  const matcher = matcherOf(task);
  const { certain, rest } = certainFacts(task, reply);
  const stated = new Set(certain);
  for (const { text } of sentencesOf(rest)) {
    if (text.endsWith('?') || saysNoPreference(text) || ACKNOWLEDGED.test(text)) continue;
    const open = asked.find((fact) => !stated.has(fact));
    const best = matcher.match({ kind: 'specific', text, context: '', continues: false }, open);
    const named = matcher.withKeywordIn(text);
    const fact =
      best !== undefined && asked.includes(best)
        ? best
        : (asked.find((one) => named.includes(one)) ?? named.find((one) => one === best));
    if (fact !== undefined) stated.add(fact);
  }
  return stated;
}
