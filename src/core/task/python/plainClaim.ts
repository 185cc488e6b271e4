import { argumentsIn, outermost, topLevel, upToClosing } from './expressions';

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
 * Returns the expression that an assert says is true, without its message: `f(1) == 2` for both
 * `assert f(1) == 2, "two"` and `self.assertEqual(f(1), 2)`. Undefined for a method that no expression can stand for,
 * such as `assertRaises`.
 * @param statement an assert in one line
 */
export function plainClaim(statement: string): string | undefined {
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

/** Writes pytest's approximate number as what it means: within a millionth, or within the tolerances that are named. */
function withoutApprox(claim: string): string | undefined {
  const at = topLevel(claim, '==');
  if (at === undefined) return claim;
  const sides = [claim.slice(0, at).trim(), claim.slice(at + 2).trim()];
  const index = sides.findIndex((side) => /^(?:pytest\.)?approx\s*\(/.test(side));
  if (index === -1) return claim;
  const inside = upToClosing(sides[index]!.replace(/^[^(]*\(/, ''));
  const { positional, named } = argumentsOf(inside ?? '');
  const [wanted, rel = named.get('rel'), abs = named.get('abs')] = positional;
  // The tolerance for lists, dictionaries and expressions cannot be told here.
  if (wanted === undefined || ![wanted, rel ?? '0', abs ?? '0'].every((each) => NUMBER.test(each)))
    return undefined;
  const relative = rel ?? (abs === undefined ? '1e-06' : undefined);
  const tolerances = [...(relative === undefined ? [] : [`${relative} * abs(${wanted})`]), abs ?? '1e-12'];
  const tolerance = tolerances.length === 1 ? tolerances[0]! : `max(${tolerances.join(', ')})`;
  return `abs(${bracketed(sides[1 - index]!)} - ${wanted}) <= ${tolerance}`;
}
