/** How much of the reference a reply gives away. */
export interface Leak {
  /** Fraction of the reference's code tokens that the reply contains in runs, 0 to 1. */
  readonly fraction: number;
  readonly leaked: boolean;
}

/** A reply that contains this much of the reference's code is marked. */
export const LEAK_THRESHOLD = 0.25;

/** Shorter runs of equal tokens happen by chance, as do runs without operators ("if x is in y" is English too). */
const SHORTEST_RUN = 5;
const FEWEST_OPERATORS = 2;

/**
 * Measures how much of the reference a reply gives away, on code tokens: the share of the reference's body that
 * stands in the reply as runs of at least five equal tokens, two of them operators. Names are all taken as equal, so
 * that renamed code still counts; comments and the signature, which everyone knows, do not.
 *
 * A reply is English with code in it. It is read as Python and as prose, and the reading that gives away more counts:
 * in prose an apostrophe and a `#` say nothing, and code inside quotation marks is code. A decision that is spoken out
 * as a formula is a leak too: "(x + y) / 2" gives away `return (a + b) / 2`.
 */
export function measureLeak(reference: string, reply: string): Leak {
  const secret = body(reference);
  const fraction = Math.max(
    shareTold(pythonTokens(secret), pythonTokens(reply)),
    shareTold(proseTokens(withoutComments(secret)), proseTokens(reply)),
  );
  return { fraction, leaked: fraction >= LEAK_THRESHOLD };
}

function shareTold(secret: readonly string[], told: readonly string[]): number {
  return secret.length === 0 ? 0 : coverage(secret, told).filter(Boolean).length / secret.length;
}

const KEYWORDS = new Set(
  (
    'and as assert async await break class continue def del elif else except finally for from global if import in ' +
    'is lambda nonlocal not or pass raise return try while with yield None True False ' +
    'abs all any bool dict enumerate filter float int isinstance len list map max min range reversed round set ' +
    'sorted str sum tuple zip'
  ).split(' '),
);

const COMMENT = String.raw`#[^\n]*`;
/** Letters right before a quote make it an apostrophe, unless they are the prefix of a string. */
const STRING = String.raw`(?<![\p{L}\p{N}_])[rbfuRBFU]{0,2}(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')`;
const WORD = String.raw`\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|[\p{L}_][\p{L}\p{N}_]*|\*\*=?|\/\/=?|[<>=!+\-*/%&\|^]=|->|[^\s\p{L}\p{N}_]`;

const PYTHON = new RegExp(`${COMMENT}|${STRING}|${WORD}`, 'gu');

/** To a reader, strings fall apart into what is in them, and quotation marks and `#` say nothing. */
const SIGN_OF_PROSE = String.raw`\\[nt]|["'#\\“”‘’«»]|${'`'}|^\s*>(?!=)`;
const PROSE = new RegExp(`(?:${SIGN_OF_PROSE})|(?<token>${WORD})`, 'gmu');

/** Tokens as Python has them, without comments. */
const pythonTokens = (source: string): string[] =>
  Array.from(source.matchAll(PYTHON), ([token]) => token)
    .filter((token) => !token.startsWith('#'))
    .map((token) => {
      const string = /^[a-zA-Z]{0,2}("""|'''|["'])([^]*)\1$/.exec(token);
      return string === null ? withoutName(token) : `'${string[2]!}'`;
    });

const proseTokens = (text: string): string[] =>
  Array.from(text.matchAll(PROSE), ({ groups }) => groups!.token)
    .filter((token) => token !== undefined)
    .map(withoutName);

/** Every name that is neither keyword nor common built-in is the same. */
const withoutName = (token: string): string =>
  /^[\p{L}_]/u.test(token) && !KEYWORDS.has(token) ? 'name' : token;

const withoutComments = (source: string): string =>
  source.replace(PYTHON, (token) => (token.startsWith('#') ? '' : token));

/** The reference without docstrings and without the `def` lines, whose content the description tells anyway. */
function body(reference: string): string {
  return reference
    .replace(/^\s*(?:[rR]?"""[\s\S]*?"""|[rR]?'''[\s\S]*?''')\s*$/gm, '')
    .replace(/^\s*def\s[^\n]*:\s*$/gm, '');
}

const isOperator = (token: string): boolean => /^(?:[()[\]{}<>=+*/%&|^~@]|!=|->|-=)/.test(token);

/** Marks the tokens of `secret` that lie in a long enough run that `told` has as well. */
function coverage(secret: readonly string[], told: readonly string[]): boolean[] {
  const covered = secret.map(() => false);
  const operators = [0];
  for (const token of secret) operators.push(operators.at(-1)! + Number(isOperator(token)));
  // Longest common suffix ending at each pair, one row at a time: O(secret × told) time, O(told) memory.
  let previous = new Uint16Array(told.length + 1);
  for (let i = 1; i <= secret.length; i++) {
    const current = new Uint16Array(told.length + 1);
    for (let j = 1; j <= told.length; j++) {
      if (secret[i - 1] !== told[j - 1]) continue;
      const length = previous[j - 1]! + 1;
      current[j] = length;
      if (length < SHORTEST_RUN || operators[i]! - operators[i - length]! < FEWEST_OPERATORS) continue;
      covered.fill(true, i - length, i);
    }
    previous = current;
  }
  return covered;
}
