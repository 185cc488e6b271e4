import { ATTRIBUTES, replies, sentence, WORDS } from '../../../src/core/task/starter/questions/objects';
import { REQUEST_SENTENCES } from '../../../src/core/task/starter/questions/world';
import type { Language } from '../language';

/** Each question, reply and sentence of a request is one token, and an answer hardly more than its two names. */
export function questionLanguage(): Language {
  const questions = ATTRIBUTES.flatMap((attribute) => WORDS[attribute].questions);
  const requests = REQUEST_SENTENCES.flatMap((text) => [text, ` ${text}`]);
  const told = ATTRIBUTES.flatMap((attribute) =>
    [true, false].flatMap((isTrue) => [
      ...replies(attribute, isTrue).flatMap((reply) => [reply, ` ${reply}`]),
      ` ${sentence(attribute, isTrue)}`,
    ]),
  );
  return {
    openings: ['I WANT TO ANSWER:\n```python\ndef answer():\n    return "'],
    idioms: [...requests, ...questions, ...told, 'def answer():\n    return "', '"\n```'].toSorted(
      (a, b) => b.length - a.length || (a < b ? -1 : 1),
    ),
  };
}
