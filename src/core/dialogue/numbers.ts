interface WrittenNumber {
  readonly value: number;
  /** As the text has it. */
  readonly shown: string;
}

/** Numbers in digits, without those that are a part of a name, a date or a time. */
export function numbersOfText(text: string): WrittenNumber[] {
  const found = text.matchAll(
    /(?<![\p{L}\p{N}_.,:/]|[\p{L}\p{N}][-–])(\d+(?:,\d{3})*(?:\.\d+)?)(?:st|nd|rd|th)?(?![\p{L}\p{N}_]|[:/,.-]\d)/gu,
  );
  return [...found].map(([, shown]) => ({ value: Number(shown!.replaceAll(',', '')), shown: shown! }));
}

const LITERAL = '(?:\\d[\\d_]*(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?';

/** Numbers anywhere in Python source, names and comments included, and results of two with a sign between them. */
export function numbersOfCode(code: string): ReadonlySet<number> {
  const valueOf = (literal: string): number => Number(literal.replaceAll('_', ''));
  const literals = [...code.matchAll(new RegExp(LITERAL, 'gi'))].map(([literal]) => valueOf(literal));
  // A sum is one only where nothing binds its numbers more strongly.
  const operations = [
    `(${LITERAL})\\s*(\\*\\*|[*/])\\s*(${LITERAL})`,
    `(?<![*/%]\\s*)(${LITERAL})\\s*([-+])\\s*(${LITERAL})(?![\\w.]|\\s*[*/%])`,
  ];
  const pairs = operations.flatMap((operation) => [
    ...code.matchAll(new RegExp(`(?=(?<![\\w.])${operation})`, 'gi')),
  ]);
  const results = pairs.map(([, one, sign, other]) => result(valueOf(one!), sign!, valueOf(other!)));
  return new Set([...literals, ...results].map(rounded));
}

function result(one: number, sign: string, other: number): number {
  switch (sign) {
    case '+':
      return one + other;
    case '-':
      return one - other;
    case '*':
      return one * other;
    case '/':
      return one / other;
    default:
      return one ** other;
  }
}

/** What code may do with a number that was said with such a word. */
const CONVERSIONS: readonly { readonly words: RegExp; readonly factors: readonly number[] }[] = [
  { words: /euro|cent|dollar|pound|price|cost|[€$£]/i, factors: [100] },
  { words: /second|minute|hour|day|week|night/i, factors: [60, 3600, 24, 7] },
  { words: /gram|kilo|met(?:er|re)|lit(?:er|re)|ton|\bk[gm]\b/i, factors: [100, 1000] },
  { words: /month|year|dozen/i, factors: [12, 365] },
  { words: /tenth/i, factors: [10] },
];

const SHARE = /percent|per cent|%|share|half/i;

/**
 * Numbers that code may have in place of one that was said: the other side of a boundary, a percentage as a fraction or as
 * what is left of the whole, another unit, twice or half of it, its product or quotient with another number.
 *
 * @param text in which it was said
 * @param others numbers that were said as well
 */
export function waysToWrite(value: number, text: string, others: readonly number[]): number[] {
  const fraction = value / 100;
  const shares = SHARE.test(text) ? [fraction, 1 - fraction, 1 + fraction, 100 - value, 100 + value] : [];
  const factors = CONVERSIONS.flatMap((each) => (each.words.test(text) ? each.factors : []));
  const scales = [2, ...factors, ...others.filter((other) => other !== value && other !== 0)];
  const derived = [...shares, ...scales.flatMap((factor) => [value * factor, value / factor])]
    .map(rounded)
    .filter((way) => !isInAnyCode(way));
  return [value, value - 1, value + 1, ...derived];
}

/** 0, 1 and 2 occur in nearly any code, so their presence or absence says nothing. */
export const isInAnyCode = (value: number): boolean => [0, 1, 2].includes(value);

/** Without what floating-point arithmetic loses. */
const rounded = (value: number): number => Number(value.toPrecision(9));
