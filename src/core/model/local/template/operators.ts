// Python's operators on the values of a template.

import { formatPercent } from './strings';
import {
  integerOf,
  isDict,
  isNumber,
  Marked,
  refused,
  TemplateError,
  Tuple,
  typeName,
  Undefined,
  View,
  type Value,
} from './values';
import type { BinaryOperator } from './syntax';

type Operator = Exclude<BinaryOperator, 'and' | 'or'>;

/** Longer texts and lists are a mistake or an attack. */
const MAX_REPEATED = 1_000_000;

const unable = (operator: Operator, left: Value, right: Value): TemplateError =>
  left instanceof Marked || right instanceof Marked
    ? refused(`\`${operator}\` on a text marked \`safe\``)
    : new TemplateError(`\`${operator}\` between ${typeName(left)} and ${typeName(right)}`);

/** An operator on numbers: integers stay integers. */
const onNumbers =
  (
    operator: Operator,
    integers: (a: bigint, b: bigint) => Value,
    floats: (a: number, b: number) => number,
  ): ((left: Value, right: Value) => Value) =>
  (left, right) => {
    if (!isNumber(left) || !isNumber(right)) throw unable(operator, left, right);
    const [a, b] = [integerOf(left), integerOf(right)];
    return a === undefined || b === undefined ? floats(Number(left), Number(right)) : integers(a, b);
  };

function nonZero<T extends bigint | number>(divisor: T): T {
  if (Number(divisor) === 0) throw new TemplateError('a division by zero');
  return divisor;
}

const floorDivided = (a: bigint, b: bigint): bigint => {
  const quotient = a / nonZero(b);
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
};

const remainder = (a: number, b: number): number => {
  const rest = a % nonZero(b);
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
};

const power = onNumbers(
  '**',
  (a, b) => {
    if (b < 0n || b > 1000n) throw refused('`**` with such an exponent');
    return a ** b;
  },
  () => {
    throw refused('`**` of floats');
  },
);

const sum = onNumbers(
  '+',
  (a, b) => a + b,
  (a, b) => a + b,
);
const product = onNumbers(
  '*',
  (a, b) => a * b,
  (a, b) => a * b,
);
const modulo = onNumbers('%', (a, b) => a - floorDivided(a, b) * b, remainder);

function added(left: Value, right: Value): Value {
  if (typeof left === 'string' && typeof right === 'string') return left + right;
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  if (left instanceof Tuple && right instanceof Tuple) return new Tuple([...left.items, ...right.items]);
  return sum(left, right);
}

function multiplied(left: Value, right: Value): Value {
  const repeatable = (value: Value): value is string | Value[] | Tuple =>
    typeof value === 'string' || Array.isArray(value) || value instanceof Tuple;
  const [whole, times] = repeatable(left) ? [left, integerOf(right)] : [right, integerOf(left)];
  if (!repeatable(whole)) return product(left, right);
  if (times === undefined) throw unable('*', left, right);
  const count = Math.max(0, Number(times));
  const size = whole instanceof Tuple ? whole.items.length : whole.length;
  if (count * size > MAX_REPEATED) throw refused('`*` for so long a text');
  if (typeof whole === 'string') return whole.repeat(count);
  const items = Array.from({ length: count }, () => (whole instanceof Tuple ? whole.items : whole)).flat();
  return whole instanceof Tuple ? new Tuple(items) : items;
}

export const BINARY: Readonly<Record<Operator, (left: Value, right: Value) => Value>> = {
  '+': added,
  '-': onNumbers(
    '-',
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  '*': multiplied,
  '/': onNumbers(
    '/',
    (a, b) => Number(a) / nonZero(Number(b)),
    (a, b) => a / nonZero(b),
  ),
  '//': onNumbers('//', floorDivided, (a, b) => Math.floor(a / nonZero(b))),
  '%': (left, right) => (typeof left === 'string' ? formatPercent(left, right) : modulo(left, right)),
  '**': power,
};

/** `value[start:stop:step]`; `null` where a part is left out. */
export function sliced(value: Value, start: Value, stop: Value, step: Value): Value {
  const bound = (part: Value): number | undefined => {
    if (part === null) return undefined;
    const integer = integerOf(part);
    if (integer === undefined) throw new TemplateError(`a slice by ${typeName(part)}`);
    return Number(integer);
  };
  const by = bound(step) ?? 1;
  if (by === 0) throw new TemplateError('a slice with step 0');
  const cut = <Item>(items: readonly Item[]): Item[] => sliceOf(items, bound(start), bound(stop), by);
  if (typeof value === 'string') return cut(Array.from(value)).join('');
  if (Array.isArray(value)) return cut(value);
  if (value instanceof Tuple) return new Tuple(cut(value.items));
  if (value instanceof View && value.kind === 'range') return new View('range', cut(value.items));
  if (value instanceof Marked) throw refused('a part of a text marked `safe`');
  if (isDict(value)) throw refused('a slice of a dict');
  if (value === null || isNumber(value)) return new Undefined('slice');
  throw new TemplateError(`a slice of ${typeName(value)}`);
}

/** Python's rule for bounds, `PySlice_AdjustIndices`. */
function sliceOf<Item>(
  items: readonly Item[],
  start: number | undefined,
  stop: number | undefined,
  by: number,
): Item[] {
  const [low, high] = by > 0 ? [0, items.length] : [-1, items.length - 1];
  const bounded = (at: number): number => Math.min(Math.max(at < 0 ? at + items.length : at, low), high);
  const first = start === undefined ? (by > 0 ? low : high) : bounded(start);
  const end = stop === undefined ? (by > 0 ? high : low) : bounded(stop);
  const cut: Item[] = [];
  for (let at = first; by > 0 ? at < end : at > end; at += by) {
    const item = items[at];
    if (item !== undefined) cut.push(item);
  }
  return cut;
}
