import { withoutEnd } from '../../text';
import { namesUsed, topLevel, withoutComments, withStrings } from './expressions';
import { sourceLines } from './lines';
import { isParametrized, withCases, withValues, type Case } from './parametrized';
import { plainClaim } from './plainClaim';

/** Names that every Python has and that the tests of a function may use. */
const KNOWN = new Set(
  `and or not in is if else for lambda None True False
  abs all any bool bytes chr complex dict divmod enumerate filter float frozenset hex int isinstance iter len list map max
  min next oct ord pow range repr reversed round set slice sorted str sum tuple type zip`.split(/\s+/),
);

/** Matches a line on which an assert begins, as pytest and unittest write it. */
const ASSERT = /^\s*(?:assert\b|self\.assert[A-Z])/;

/**
 * Returns what the asserts of a test file claim about a function, each as an expression without the message that an
 * assert may end with. The methods of unittest, the `approx` of pytest and the cases that its `parametrize` lists are
 * written out. Asserts that need anything else of their file (variables, fixtures, helpers) are left out, since they
 * mean nothing alone.
 */
export function assertsAbout(source: string, name: string): string[] {
  const lines = sourceLines(source);
  const opening = [...lines.keys()].filter((index) => lines[index]!.opens);
  const found: string[] = [];
  /** Cases that the decorators since the last statement list. */
  let listed: readonly Case[] | undefined;
  /** The parametrized test that the lines belong to. */
  let test: { readonly indent: number; readonly cases: readonly Case[] } | undefined;
  for (const [at, index] of opening.entries()) {
    const { text, start, indent } = lines[index]!;
    const statement = (): string =>
      inOneLine(source.slice(start, lines[opening[at + 1] ?? -1]?.start ?? source.length));
    if (test !== undefined && indent <= test.indent) test = undefined;
    if (/^\s*@/.test(text)) {
      const decorator = statement();
      if (isParametrized(decorator)) listed = withCases(listed ?? [new Map()], decorator);
      continue;
    }
    if (listed !== undefined && /^\s*(?:async\s+)?def\b/.test(text)) test = { indent, cases: listed };
    listed = undefined;
    if (!ASSERT.test(text)) continue;
    const claim = statement();
    const cases = test?.cases ?? [new Map<string, string>()];
    found.push(...cases.flatMap((values) => plainClaim(withValues(claim, values)) ?? []));
  }
  return [...new Set(found)].filter((claim) => isAbout(claim, name));
}

/** The sides of an equality, one of which calls the function: in `f(1) == 2` the call is `f(1)`, and 2 is wanted. */
export interface Equality {
  readonly call: string;
  readonly wanted: string;
}

/** Returns undefined for a claim that is no equality of a call of the function with something else. */
export function equalityIn(claim: string, name: string): Equality | undefined {
  const at = topLevel(claim, '==');
  if (at === undefined) return undefined;
  const [left, right] = [claim.slice(0, at).trim(), claim.slice(at + 2).trim()];
  if (topLevel(right, '==') !== undefined || calls(left, name) === calls(right, name)) return undefined;
  return calls(left, name) ? { call: left, wanted: right } : { call: right, wanted: left };
}

/** Joins the lines of a text, without comments and without the backslashes that continue its lines. */
function inOneLine(text: string): string {
  const lines = withoutComments(text.replaceAll('\r', '')).trim().split('\n');
  return lines
    .map((line) => withoutEnd(line.trim(), '\\').trim())
    .filter((line) => line !== '')
    .join(' ');
}

function isAbout(claim: string, name: string): boolean {
  if (!calls(claim, name)) return false;
  const bare = withStrings(claim, () => '""');
  const bound = boundIn(bare);
  return [...namesUsed(bare)].every(({ name: word }) => word === name || KNOWN.has(word) || bound.has(word));
}

/** Returns the names that the claim itself gives values to: those between `for` and `in`, or `lambda` and its colon. */
function boundIn(claim: string): ReadonlySet<string> {
  const bound = new Set<string>();
  let names: string[] | undefined;
  for (const [word] of claim.matchAll(/[\p{L}\p{N}_]+|[^\s,]/gu)) {
    if (word === 'for' || word === 'lambda') names = [];
    else if (word === 'in' || word === ':') {
      for (const name of names ?? []) bound.add(name);
      names = undefined;
    } else if (/[\p{L}\p{N}_]/u.test(word)) names?.push(word);
    else names = undefined;
  }
  return bound;
}

function calls(text: string, name: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}_.])${name}\\s*\\(`, 'u').test(text);
}
