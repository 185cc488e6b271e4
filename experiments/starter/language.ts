/** How a world's answers are written, for the tokenizer. */
export interface Language {
  /** How answers begin, one token each. */
  readonly openings: readonly string[];
  /** Other stretches of an answer, one token each. Longer ones precede their own prefixes: the first match wins. */
  readonly idioms: readonly string[];
  /** Words that an answer chooses from, one token each; they weigh as numbers do. */
  readonly values?: readonly string[];
  /** Stretches of other messages, one token each; they weigh no more than a word. */
  readonly sentences?: readonly string[];
}

export const FUNCTION_LANGUAGE: Language = {
  openings: ['I WANT TO ANSWER:\n```python\ndef'],
  idioms: [
    '\n```',
    ', rate):',
    ', rate, base):',
    '\n    if not ',
    '\n    if ',
    ' == 0:\n        return ',
    ':\n        return ',
    ':\n        total += 10',
    ' = sum(',
    ' = max(',
    ' - ',
    ' > ',
    ' >= ',
    ', 0)',
    ' * rate',
    '\n    total = base + ',
    '\n    total = total * ',
    '\n    total = max(total, ',
    '\n    total = min(total, ',
    '\n    total = -int(-total // 1)',
    '\n    total = int(total + 0.5)',
    '\n    total = int(total)',
    '\n    total = ',
    '\n    total -= total * ',
    '\n    total += ',
    ' / 100',
    '\n    return total',
  ],
};
