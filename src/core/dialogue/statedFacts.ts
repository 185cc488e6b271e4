import type { Fact, ProgramTask } from '../task/task';
import { certainFacts } from './debrief';
import { matcherOf } from './factMatcher';
import { saysNoPreference } from './noPreference';
import { sentencesOf } from './questions';

/** Says nothing, but has only words that an answer may have, too. */
const ACKNOWLEDGED =
  /^(?:(?:ok|okay|sure|fine|good|great|thanks|right|all right|i see|got it|go (?:on|ahead))\W*)+$/i;

/**
 * Facts that a reply states, in anybody's words: in a wording of theirs, by a number that only they have, or in a
 * sentence that the matcher of questions gives to them. What was asked comes first: a sentence that names such a fact
 * is about it, whatever else it names, and one without words of its own ("Yes.", "Always up.") is about the first that
 * is still open.
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
