import { withoutEnd } from '../../text';
import { sourceLines } from './lines';
import { PythonStrings } from './strings';

/** Names that every Python has, as far as tests of a function use them. */
const KNOWN = new Set(
  `and or not in is if else for lambda None True False
  abs all any bool bytes chr complex dict divmod enumerate filter float frozenset hex int isinstance iter len list map max
  min next oct ord pow range repr reversed round set slice sorted str sum tuple type zip`.split(/\s+/),
);
const NAME = /(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*/gu;

/**
 * What the asserts of a test file claim about a function, each an expression: without the message that an assert may end
 * with. Those that need anything of their file (variables, fixtures, helpers) are left out, since they mean nothing alone.
 */
export function assertsAbout(source: string, name: string): string[] {
  const lines = sourceLines(source);
  const found = lines.flatMap((line, index) => {
    if (!line.opens || !/^\s*assert\b/.test(line.text)) return [];
    let next = index + 1;
    while (next < lines.length && !lines[next]!.opens && !isBlankOrComment(lines[next]!.text)) next += 1;
    const claim = source
      .slice(line.start, lines[next]?.start ?? source.length)
      .replace(/^\s*assert\b\s*/, '');
    return claimIn(claim);
  });
  return [...new Set(found)].filter((claim) => isAbout(claim, name));
}

/** The side of a claim that calls the function: of `f(1) == 2` it is `f(1)`; else the claim itself is what is called. */
export function calledIn(claim: string, name: string): string {
  const at = topLevel(claim, '==');
  if (at === undefined) return claim;
  const [left, right] = [claim.slice(0, at).trim(), claim.slice(at + 2).trim()];
  if (topLevel(right, '==') !== undefined) return claim;
  if (calls(left, name) && !calls(right, name)) return left;
  return calls(right, name) && !calls(left, name) ? right : claim;
}

const isBlankOrComment = (text: string): boolean => /^\s*(?:#|$)/.test(text);

/** Without the message, and in one line. */
function claimIn(text: string): string[] {
  const bare = text.replaceAll('\r', '').trim();
  const comma = topLevel(bare, ',');
  const claim = comma === undefined ? bare : bare.slice(0, comma);
  const inOne = claim.split('\n').map((line) => withoutEnd(line.trim(), '\\').trim());
  return claim === '' ? [] : [inOne.join(' ').trim()];
}

function isAbout(claim: string, name: string): boolean {
  if (!calls(claim, name)) return false;
  const bare = withStrings(claim, () => '""');
  const bound = boundIn(bare);
  return [...bare.matchAll(NAME)].every(({ 0: word, index }) => {
    const isKeyword = /^\s*=(?!=)/.test(bare.slice(index + word.length));
    return word === name || KNOWN.has(word) || bound.has(word) || isKeyword;
  });
}

/** The names that the claim itself gives values to: those between `for` and `in`, or `lambda` and its colon. */
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

/** The text with something else in place of its strings. */
function withStrings(text: string, instead: (length: number) => string): string {
  const strings = new PythonStrings(text);
  let told = '';
  for (let at = 0; at < text.length;) {
    const end = strings.at(at)?.end;
    told += end === undefined ? text[at]! : instead(end - at);
    at = end ?? at + 1;
  }
  return told;
}

function calls(text: string, name: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}_.])${name}\\s*\\(`, 'u').test(text);
}

/** Where an operator stands outside of brackets and strings. */
function topLevel(text: string, operator: ',' | '=='): number | undefined {
  const blanked = withStrings(text, (length) => ' '.repeat(length));
  let depth = 0;
  for (let at = 0; at < blanked.length; at += 1) {
    if ('([{'.includes(blanked[at]!)) depth += 1;
    else if (')]}'.includes(blanked[at]!)) depth -= 1;
    else if (depth === 0 && blanked.startsWith(operator, at)) return at;
  }
  return undefined;
}
