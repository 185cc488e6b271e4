interface WrittenNumber {
  readonly value: number;
  /** As the text has it. */
  readonly shown: string;
}

/** Numbers in digits, without those that are a part of a name, a date or a time. */
export function numbersOfText(text: string): WrittenNumber[] {
  const found = text.matchAll(
    /(?<![\p{L}\p{N}_.,:/]|[\p{L}\p{N}][-–])\d+(?:,\d{3})*(?:\.\d+)?(?![\p{L}\p{N}_]|[:/,.-]\d)/gu,
  );
  return [...found].map(([shown]) => ({ value: Number(shown.replaceAll(',', '')), shown }));
}

const LITERAL = '(?:\\d[\\d_]*(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?';

/** Numbers anywhere in Python source, comments and strings included, and results of two with a sign between them. */
export function numbersOfCode(code: string): ReadonlySet<number> {
  const valueOf = (literal: string): number => Number(literal.replaceAll('_', ''));
  const literals = [...code.matchAll(new RegExp(LITERAL, 'gi'))].map(([literal]) => valueOf(literal));
  const pairs = code.matchAll(
    new RegExp(`(?=(?<![\\w.])(${LITERAL})\\s*(\\*\\*|[-+*/])\\s*(${LITERAL}))`, 'gi'),
  );
  const results = [...pairs].map(([, one, sign, other]) => result(valueOf(one!), sign!, valueOf(other!)));
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

/** Between units of money, weight, length and time. */
const UNITS = [7, 10, 12, 24, 60, 100, 1000, 3600];

/**
 * Numbers that code may have in place of one that was said: a percentage as a fraction or as what is left of the whole, another
 * unit, the other side of a boundary.
 */
export function waysToWrite(value: number): number[] {
  const fraction = value / 100;
  return [
    ...[value, value - 1, value + 1],
    ...[fraction, 1 - fraction, 1 + fraction, 100 - value, 100 + value],
    ...UNITS.flatMap((unit) => [value * unit, value / unit]),
  ]
    .map(rounded)
    .filter((way) => way !== 0 && way !== 1); // In any code.
}

/** Without what floating-point arithmetic loses. */
const rounded = (value: number): number => Number(value.toPrecision(9));
