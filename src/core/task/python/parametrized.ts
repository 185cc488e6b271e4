import { argumentsIn, namesUsed, outermost, upToClosing, withStrings } from './expressions';

/** Values that one case of a test gives its parameters, as they are written. */
export type Case = ReadonlyMap<string, string>;

/** Maximum number of cases of one test; the person who chooses among the claims reads no more. */
const MOST_CASES = 100;

const DECORATOR = /^@(?:pytest\.)?mark\.parametrize\s*\(/;

export const isParametrized = (decorator: string): boolean => DECORATOR.test(decorator);

/**
 * Combines each of the cases before with each of those that pytest's `parametrize` lists, up to a hundred. Returns none
 * where names or cases are not written out.
 * @param decorator the decorator in one line
 */
export function withCases(before: readonly Case[], decorator: string): Case[] {
  const [names = '', list = ''] = argumentsIn(upToClosing(decorator.replace(DECORATOR, '')) ?? '');
  // In a list of names even a single one takes its value from a tuple.
  const isOne = inBrackets(names) === undefined && !names.includes(',');
  const called = (inBrackets(names) ?? [names]).flatMap(namesIn);
  const listed = (inBrackets(list) ?? []).flatMap((text) => caseOf(text, called, isOne) ?? []);
  return before.flatMap((one) => listed.map((other) => new Map([...one, ...other]))).slice(0, MOST_CASES);
}

/** Returns the statement with the values in place of the parameters. */
export function withValues(statement: string, values: Case): string {
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

/** Splits a string of names: `"a, b"` names `a` and `b`. */
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

/** Splits a list or a tuple into its parts; undefined for anything else. */
function inBrackets(text: string): string[] | undefined {
  if (!/^[[(]/.test(text)) return undefined;
  const inside = upToClosing(text.slice(1));
  return inside?.length === text.length - 2 ? argumentsIn(inside) : undefined;
}

/** Tells whether the value means the same without brackets around it. */
function isAtom(value: string, rest: string): boolean {
  const isSigned = /^[-+]/.test(value);
  return (
    /^[-+]?[\p{L}\p{N}_.]*(?:""|\[\]|\(\)|\{\})*$/u.test(outermost(value)) &&
    !(isSigned && /^\s*(?:\*\*|\.|\[)/.test(rest))
  );
}
