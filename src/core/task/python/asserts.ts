import { withoutEnd } from '../../text';
import { sourceLines } from './statements';
import { PythonStrings } from './strings';

/** Names that every Python has and that the tests of a function may use. */
const KNOWN = new Set(
  `and or not in is if else for lambda None True False
  abs all any bool bytes chr complex dict divmod enumerate filter float frozenset hex int isinstance iter len list map max
  min next oct ord pow range repr reversed round set slice sorted str sum tuple type zip`.split(/\s+/),
);

const ASSERT = /^\s*(?:assert\b|self\.assert[A-Z])/;

/**
 * The claims of a test file about a function, each an expression without the assert's message. The methods of unittest,
 * the `approx` of pytest and the cases of its `parametrize` are written out. Asserts that need anything else of their
 * file (variables, fixtures, helpers) are left out, since they mean nothing alone.
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

/** In `f(1) == 2` the call is `f(1)`, and 2 is wanted. */
export interface Equality {
  readonly call: string;
  readonly wanted: string;
}

/** Undefined for a claim that is no equality of a call of the function with something else. */
export function equalityIn(claim: string, name: string): Equality | undefined {
  const at = topLevel(claim, '==');
  if (at === undefined) return undefined;
  const [left, right] = [claim.slice(0, at).trim(), claim.slice(at + 2).trim()];
  if (topLevel(right, '==') !== undefined || calls(left, name) === calls(right, name)) return undefined;
  return calls(left, name) ? { call: left, wanted: right } : { call: right, wanted: left };
}

/** Without comments and without the backslashes that continue lines. */
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

/** Names that the claim itself binds: those between `for` and `in`, or `lambda` and its colon. */
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

/** Value of each parameter in one case of a test, as it is written. */
type Case = ReadonlyMap<string, string>;

/** The person who chooses among the claims reads no more. */
const MAX_CASES = 100;

const DECORATOR = /^@(?:pytest\.)?mark\.parametrize\s*\(/;

const isParametrized = (decorator: string): boolean => DECORATOR.test(decorator);

/**
 * Combines each case before with each that pytest's `parametrize` lists, up to a hundred; none where names or cases are
 * not written out.
 * @param decorator the decorator in one line
 */
function withCases(before: readonly Case[], decorator: string): Case[] {
  const [names = '', list = ''] = argumentsIn(upToClosing(decorator.replace(DECORATOR, '')) ?? '');
  // In a list of names even a single one takes its value from a tuple.
  const isOne = inBrackets(names) === undefined && !names.includes(',');
  const called = (inBrackets(names) ?? [names]).flatMap(namesIn);
  const listed = (inBrackets(list) ?? []).flatMap((text) => caseOf(text, called, isOne) ?? []);
  return before.flatMap((one) => listed.map((other) => new Map([...one, ...other]))).slice(0, MAX_CASES);
}

function withValues(statement: string, values: Case): string {
  const blanked = withStrings(statement, (length) => ' '.repeat(length));
  let told = '';
  let end = 0;
  for (const { name, index } of namesUsed(blanked)) {
    const value = values.get(name);
    if (value === undefined) continue;
    told += statement.slice(end, index);
    end = index + name.length;
    told += isAtom(value, blanked.slice(end)) ? value : `(${value})`;
  }
  return told + statement.slice(end);
}

function namesIn(text: string): string[] {
  const inside = /^(["'])([^"']*)\1$/.exec(text)?.[2];
  return inside === undefined ? [] : inside.split(',').map((name) => name.trim());
}

function caseOf(text: string, names: readonly string[], isOne: boolean): Case | undefined {
  const begin = /^(?:pytest\.)?param\s*\(/.exec(text)?.[0];
  const given = begin === undefined ? undefined : argumentsIn(upToClosing(text.slice(begin.length)) ?? '');
  const values =
    given?.filter((one) => !/^(?:id|marks)\s*=/.test(one)) ?? (isOne ? [text] : inBrackets(text));
  if (values?.length !== names.length) return undefined;
  return new Map(names.map((name, index) => [name, values[index]!]));
}

/** Parts of a list or a tuple; undefined for anything else. */
function inBrackets(text: string): string[] | undefined {
  if (!/^[[(]/.test(text)) return undefined;
  const inside = upToClosing(text.slice(1));
  return inside?.length === text.length - 2 ? argumentsIn(inside) : undefined;
}

function isAtom(value: string, rest: string): boolean {
  const isSigned = /^[-+]/.test(value);
  return (
    /^[-+]?[\p{L}\p{N}_.]*(?:""|\[\]|\(\)|\{\})*$/u.test(outermost(value)) &&
    !(isSigned && /^\s*(?:\*\*|\.|\[)/.test(rest))
  );
}

/** Operators that express methods of unittest, between their two arguments. */
const OPERATORS: Readonly<Record<string, string>> = {
  Equal: '==',
  Equals: '==',
  ListEqual: '==',
  TupleEqual: '==',
  SetEqual: '==',
  DictEqual: '==',
  SequenceEqual: '==',
  MultiLineEqual: '==',
  NotEqual: '!=',
  Is: 'is',
  IsNot: 'is not',
  In: 'in',
  NotIn: 'not in',
  Greater: '>',
  GreaterEqual: '>=',
  Less: '<',
  LessEqual: '<=',
};

/** Matches an argument that needs brackets before other operators. */
const LOOSE = /\b(?:if|else|lambda|and|or|not|in|is)\b|[=<>]/;

/**
 * The expression that an assert says is true, without its message: `f(1) == 2` for both `assert f(1) == 2, "two"` and
 * `self.assertEqual(f(1), 2)`. Undefined for a method that no expression can express, such as `assertRaises`.
 * @param statement an assert in one line
 */
function plainClaim(statement: string): string | undefined {
  const [, method, inside] = /^self\.assert([A-Za-z]+)\s*\(([^]*)$/.exec(statement) ?? [];
  if (method !== undefined) return methodClaim(method, argumentsOf(upToClosing(inside!) ?? ''));
  const bare = statement.replace(/^assert\b\s*/, '');
  const comma = topLevel(bare, ',');
  const claim = (comma === undefined ? bare : bare.slice(0, comma)).trim();
  return claim === '' ? undefined : withoutApprox(claim);
}

function methodClaim(method: string, { positional, named }: Arguments): string | undefined {
  const [first, second, third] = positional;
  if (first === undefined) return undefined;
  if (method === 'True') return first;
  if (method === 'False') return `not ${bracketed(first)}`;
  if (method === 'IsNone') return `${bracketed(first)} is None`;
  if (method === 'IsNotNone') return `${bracketed(first)} is not None`;
  if (second === undefined) return undefined;
  if (method === 'IsInstance') return `isinstance(${first}, ${second})`;
  if (method === 'AlmostEqual') {
    const difference = `abs(${bracketed(first)} - ${bracketed(second)})`;
    const delta = named.get('delta');
    if (delta !== undefined) return `${difference} <= ${bracketed(delta)}`;
    return `round(${difference}, ${named.get('places') ?? third ?? '7'}) == 0`;
  }
  const operator = OPERATORS[method];
  return operator === undefined ? undefined : `${bracketed(first)} ${operator} ${bracketed(second)}`;
}

interface Arguments {
  readonly positional: readonly string[];
  readonly named: ReadonlyMap<string, string>;
}

function argumentsOf(text: string): Arguments {
  const positional: string[] = [];
  const named = new Map<string, string>();
  for (const argument of argumentsIn(text)) {
    const equals = argument.indexOf('=');
    const name = argument.slice(0, Math.max(0, equals)).trim();
    if (/^[A-Za-z]+$/.test(name) && argument[equals + 1] !== '=')
      named.set(name, argument.slice(equals + 1).trim());
    else positional.push(argument);
  }
  return { positional, named };
}

const bracketed = (text: string): string => (LOOSE.test(outermost(text)) ? `(${text})` : text);

const NUMBER = /^[-+]?[\d._]+(?:[eE][-+]?\d+)?$/;

/** Within a millionth, or within the tolerances that are named. */
function withoutApprox(claim: string): string | undefined {
  const at = topLevel(claim, '==');
  if (at === undefined) return claim;
  const sides = [claim.slice(0, at).trim(), claim.slice(at + 2).trim()];
  const index = sides.findIndex((side) => /^(?:pytest\.)?approx\s*\(/.test(side));
  if (index === -1) return claim;
  const inside = upToClosing(sides[index]!.replace(/^[^(]*\(/, ''));
  const { positional, named } = argumentsOf(inside ?? '');
  const [wanted, rel = named.get('rel'), abs = named.get('abs')] = positional;
  // Without evaluating it, the tolerance for lists, dictionaries and expressions is unknown.
  if (wanted === undefined || ![wanted, rel ?? '0', abs ?? '0'].every((each) => NUMBER.test(each)))
    return undefined;
  const relative = rel ?? (abs === undefined ? '1e-06' : undefined);
  const tolerances = [...(relative === undefined ? [] : [`${relative} * abs(${wanted})`]), abs ?? '1e-12'];
  const tolerance = tolerances.length === 1 ? tolerances[0]! : `max(${tolerances.join(', ')})`;
  return `abs(${bracketed(sides[1 - index]!)} - ${wanted}) <= ${tolerance}`;
}

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

const blanked = (text: string): string => withStrings(text, (length) => ' '.repeat(length));

/** Text inside a string that looks like a comment stays. */
export function withoutComments(text: string): string {
  const code = blanked(text);
  let told = '';
  for (let at = 0; at < text.length;) {
    const comment = code.indexOf('#', at);
    if (comment === -1) return told + text.slice(at);
    told += text.slice(at, comment);
    const lineEnd = text.indexOf('\n', comment);
    if (lineEnd === -1) return told;
    at = lineEnd;
  }
  return told;
}

const NAME = /(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*/gu;

/** Names that a text without strings uses; no attributes and no keyword arguments' names. */
function* namesUsed(text: string): Generator<{ readonly name: string; readonly index: number }> {
  for (const { 0: name, index } of text.matchAll(NAME)) {
    const isKeyword = /^\s*=(?!=)/.test(text.slice(index + name.length));
    if (!isKeyword) yield { name, index };
  }
}

function topLevel(text: string, operator: ',' | '=='): number | undefined {
  return placesOf(text, operator).next().value ?? undefined;
}

/** The parts between the commas of the top level; a last comma begins no part. */
export const argumentsIn = (text: string): string[] => partsIn(text, ',');

export function partsIn(text: string, separator: ',' | ';'): string[] {
  const places = [...placesOf(text, separator), text.length];
  const parts = places.map((end, index) => text.slice(index === 0 ? 0 : places[index - 1]! + 1, end).trim());
  return parts.at(-1) === '' ? parts.slice(0, -1) : parts;
}

/** Up to the bracket that closes one opened right before the text; undefined when none does. */
function upToClosing(text: string): string | undefined {
  for (const [at, depth] of depthsIn(blanked(text))) if (depth < 0) return text.slice(0, at);
  return undefined;
}

/** The depth in brackets at each character, which the bracket has changed. */
function* depthsIn(text: string): Generator<[at: number, depth: number]> {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ('([{'.includes(text[at]!)) depth += 1;
    else if (')]}'.includes(text[at]!)) depth -= 1;
    yield [at, depth];
  }
}

/** With its strings emptied, and without what is in brackets. */
function outermost(text: string): string {
  const blanked = withStrings(text, () => '""');
  let depth = 0;
  let told = '';
  for (const character of blanked) {
    if (')]}'.includes(character)) depth -= 1;
    if (depth === 0) told += character;
    if ('([{'.includes(character)) depth += 1;
  }
  return told;
}

function* placesOf(text: string, operator: ',' | ';' | '=='): Generator<number, undefined> {
  const code = blanked(text);
  for (const [at, depth] of depthsIn(code)) if (depth === 0 && code.startsWith(operator, at)) yield at;
  return undefined;
}
