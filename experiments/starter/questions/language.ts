import {
  ATTRIBUTES,
  FIGURES,
  replies,
  sentence,
  WORDS,
} from '../../../src/core/task/starter/questions/objects';
import { REQUEST_SENTENCES } from '../../../src/core/task/starter/questions/world';
import type { Language } from '../language';

/** Each sentence of a request, each question and each reply is one token, and an answer hardly more than its two names. */
export function questionLanguage(): Language {
  const questions = ATTRIBUTES.flatMap((attribute) => WORDS[attribute].questions);
  const told = ATTRIBUTES.flatMap((attribute) =>
    [true, false].flatMap((isTrue) => [...replies(attribute, isTrue), sentence(attribute, isTrue)]),
  );
  const sentences = [...REQUEST_SENTENCES, ...told].flatMap((text) => [text, ` ${text}`]);
  const names = FIGURES.flatMap(({ name }) => {
    const [material, animal] = name.split(' ');
    return [material!, ` ${animal}`];
  });
  return {
    openings: ['I WANT TO ANSWER:\n```python\ndef answer():\n    return "'],
    idioms: longestFirst(['def answer():\n    return "', '"\n```']),
    values: longestFirst(names),
    sentences: longestFirst([...questions, ...sentences]),
  };
}

/** The first match wins, and a longer one may begin with a shorter one. */
const longestFirst = (texts: readonly string[]): string[] =>
  [...new Set(texts)].toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1));
