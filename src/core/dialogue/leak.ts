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
 */
export function measureLeak(reference: string, reply: string): Leak {
  const secret = tokenize(body(reference));
  const told = tokenize(reply);
  if (secret.length === 0) return { fraction: 0, leaked: false };
  const covered = coverage(secret, told);
  const fraction = covered.filter(Boolean).length / secret.length;
  return { fraction, leaked: fraction >= LEAK_THRESHOLD };
}

const KEYWORDS = new Set(
  (
    'and as assert async await break class continue def del elif else except finally for from global if import in ' +
    'is lambda nonlocal not or pass raise return try while with yield None True False ' +
    'abs all any bool dict enumerate filter float int isinstance len list map max min range reversed round set ' +
    'sorted str sum tuple zip'
  ).split(' '),
);

const TOKEN =
  /#[^\n]*|("""|''')[\s\S]*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|[\p{L}_][\p{L}\p{N}_]*|\*\*=?|\/\/=?|[<>=!+\-*/%&|^]=|->|[^\s\p{L}\p{N}_]/gu;

/** Python tokens with every name that is neither keyword nor common built-in replaced by one placeholder. */
function tokenize(source: string): string[] {
  const tokens: string[] = [];
  for (const [token] of source.matchAll(TOKEN)) {
    if (token.startsWith('#')) continue;
    if (/^[\p{L}_]/u.test(token)) tokens.push(KEYWORDS.has(token) ? token : 'name');
    else if (/^["']/.test(token)) tokens.push(`'${token.replace(/^("""|'''|["'])|("""|'''|["'])$/g, '')}'`);
    else tokens.push(token);
  }
  return tokens;
}

/** The reference without docstrings and without the `def` lines, whose content the description tells anyway. */
function body(reference: string): string {
  return reference
    .replace(/^\s*(?:[rR]?"""[\s\S]*?"""|[rR]?'''[\s\S]*?''')\s*$/gm, '')
    .replace(/^\s*def\s[^\n]*:\s*$/gm, '');
}

const isOperator = (token: string): boolean => /^[^\p{L}\p{N}_'.,;:?!-]/u.test(token);

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
