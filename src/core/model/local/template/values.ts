// The values of Python that a template computes with. What would not be certain to equal Python is refused.

import { compareTexts } from './characters';

/** Integers are `bigint`, floats `number`, lists arrays, dictionaries maps. */
export type Value =
  | string
  | bigint
  | number
  | boolean
  | null
  | Value[]
  | Dict
  | Tuple
  | Once
  | View
  | Marked
  | Namespace
  | Callable
  | Undefined;

/** `1` and `True` would be one key, so other keys are refused. */
export type Key = string | bigint;
export type Dict = ReadonlyMap<Key, Value>;

/** The template refuses the conversation, or does what Tandem does not render as Python does. */
export class TemplateError extends Error {}

export const refused = (construct: string): TemplateError =>
  new TemplateError(`it uses ${construct}, which Tandem does not render as Python does`);

export class Tuple {
  readonly kind = 'tuple';
  constructor(readonly items: readonly Value[]) {}
}

/** A generator, such as `map` makes, or an iterator: its items can be taken once. */
export class Once {
  #items: readonly Value[];
  constructor(items: readonly Value[]) {
    this.#items = items;
  }
  take(): readonly Value[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }
}

/** `range(3)`, `dict.items()`, `.keys()` or `.values()`. */
export class View {
  constructor(
    readonly kind: 'range' | 'items' | 'keys' | 'values',
    readonly items: readonly Value[],
  ) {}
}

/** A text marked `safe`. It is only written, because Python escapes what is added to it. */
export class Marked {
  constructor(readonly text: string) {}
}

export class Namespace {
  constructor(readonly members: Map<string, Value>) {}
}

export interface Given {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

export class Callable {
  constructor(
    readonly name: string,
    readonly call: (given: Given) => Value,
  ) {}
}

export class Undefined {
  constructor(readonly name: string) {}
}

/** `None` is a value like others, so `??` would not do. */
export const orElse = (value: Value | undefined, otherwise: () => Value): Value =>
  value === undefined ? otherwise() : value;

export const isDict = (value: Value): value is Dict => value instanceof Map;

export function keyOf(value: Value): Key {
  if (typeof value === 'string' || typeof value === 'bigint') return value;
  throw refused(`${typeName(value)} as a key of a dictionary`);
}

export const isNumber = (value: Value): value is bigint | number | boolean =>
  typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean';

/** Integers and booleans as an integer, else undefined. */
export const integerOf = (value: Value): bigint | undefined =>
  typeof value === 'boolean' ? BigInt(value) : typeof value === 'bigint' ? value : undefined;

export function typeName(value: Value): string {
  if (value === null) return 'None';
  if (Array.isArray(value)) return 'list';
  if (isDict(value)) return 'dict';
  if (value instanceof Undefined) return `undefined value \`${value.name}\``;
  if (value instanceof Once) return 'generator';
  if (value instanceof View) return value.kind === 'range' ? 'range' : `dict_${value.kind}`;
  if (typeof value === 'object') return value.constructor.name.toLowerCase();
  const names = { string: 'str', bigint: 'int', number: 'float', boolean: 'bool' } as const;
  return names[typeof value as keyof typeof names];
}

export function isTrue(value: Value): boolean {
  if (value instanceof Tuple || value instanceof View) return value.items.length > 0;
  if (Array.isArray(value)) return value.length > 0;
  if (isDict(value)) return value.size > 0;
  if (value instanceof Undefined) return false;
  if (value instanceof Marked) return value.text !== '';
  return Boolean(value);
}

/** @throws {TemplateError} if Python cannot iterate over it */
export function iterate(value: Value): readonly Value[] {
  if (typeof value === 'string') return Array.from(value);
  if (Array.isArray(value)) return value;
  if (isDict(value)) return [...value.keys()];
  if (value instanceof Tuple || value instanceof View) return value.items;
  if (value instanceof Once) return value.take();
  if (value instanceof Undefined) return [];
  throw new TemplateError(`${typeName(value)} is not iterable`);
}

export function lengthOf(value: Value): bigint {
  if (value instanceof Once) throw new TemplateError('a generator has no length');
  return BigInt(iterate(value).length);
}

export function areEqual(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0;
  if (Array.isArray(a) && Array.isArray(b)) return areAllEqual(a, b);
  if (a instanceof Tuple && b instanceof Tuple) return areAllEqual(a.items, b.items);
  if (isDict(a) && isDict(b))
    return (
      a.size === b.size && [...a].every(([key, value]) => b.has(key) && areEqual(value, b.get(key) ?? null))
    );
  if (a instanceof Undefined && b instanceof Undefined) return true;
  if (a instanceof View || b instanceof View) throw refused('`==` on a view of a dictionary or a range');
  if (a instanceof Marked || b instanceof Marked) throw refused('`==` on a text marked `safe`');
  return a === b;
}

const areAllEqual = (a: readonly Value[], b: readonly Value[]): boolean =>
  a.length === b.length && a.every((value, index) => areEqual(value, b[index] ?? null));

/** JavaScript compares integers with floats exactly, as Python does. */
function compareNumbers(a: bigint | number | boolean, b: bigint | number | boolean): number {
  const one = typeof a === 'boolean' ? BigInt(a) : a;
  const other = typeof b === 'boolean' ? BigInt(b) : b;
  return one < other ? -1 : one > other ? 1 : one == other ? 0 : NaN;
}

/** @throws {TemplateError} if Python has no order for them */
export function compare(a: Value, b: Value): number {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  const items = (value: Value): readonly Value[] | undefined =>
    Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
  const [one, other] = [items(a), items(b)];
  if (one === undefined || other === undefined || Array.isArray(a) !== Array.isArray(b))
    throw new TemplateError(`${typeName(a)} and ${typeName(b)} have no order`);
  for (const [index, value] of one.entries()) {
    const against = other[index];
    if (against === undefined) return 1;
    if (!areEqual(value, against)) return compare(value, against);
  }
  return one.length - other.length;
}

export function contains(container: Value, value: Value): boolean {
  if (container instanceof Marked || value instanceof Marked) throw refused('`in` on a text marked `safe`');
  if (typeof container === 'string') {
    if (typeof value !== 'string') throw new TemplateError(`\`in\` looks for ${typeName(value)} in a text`);
    return container.includes(value);
  }
  if (isDict(container)) {
    if (Array.isArray(value) || isDict(value)) throw new TemplateError(`${typeName(value)} cannot be a key`);
    return container.has(keyOf(value));
  }
  return iterate(container).some((item) => item === value || areEqual(item, value));
}

/** Python's `str(value)`, which is what `{{ value }}` writes. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value instanceof Marked) return value.text;
  if (value instanceof Undefined) return '';
  return repr(value);
}

export function repr(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return reprText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return reprFloat(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  if (value instanceof Tuple)
    return `(${value.items.map(repr).join(', ')}${value.items.length === 1 ? ',' : ''})`;
  if (isDict(value)) return `{${[...value].map(([key, item]) => `${repr(key)}: ${repr(item)}`).join(', ')}}`;
  if (value instanceof Undefined) return 'Undefined';
  throw refused(`the text of a ${typeName(value)}`);
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function reprText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = Array.from(text, (character) => {
    if (character === quote) return `\\${quote}`;
    if (character === ' ' || !/[\p{C}\p{Z}\\]/u.test(character)) return character;
    const code = character.codePointAt(0) ?? 0;
    const [mark, digits] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : (['U', 8] as const);
    return ESCAPED[character] ?? `\\${mark}${code.toString(16).padStart(digits, '0')}`;
  });
  return quote + escaped.join('') + quote;
}

export function reprFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [digits = '', exponent = ''] = value.toExponential().split('e');
    return `${digits}e${exponent.charAt(0)}${exponent.slice(1).padStart(2, '0')}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** Arguments by the names of a function's parameters. @throws {TemplateError} if there are others */
export function named<Name extends string>(
  what: string,
  given: Given,
  ...names: Name[]
): Partial<Record<Name, Value>> {
  if (given.positional.length > names.length) throw new TemplateError(`${what} takes fewer arguments`);
  const found: Partial<Record<Name, Value>> = {};
  for (const [index, value] of given.positional.entries()) {
    const name = names[index];
    if (name !== undefined) found[name] = value;
  }
  for (const [key, value] of given.named) {
    const name = names.find((each) => each === key);
    if (name === undefined || name in found)
      throw new TemplateError(`${what} takes no argument \`${key}\` here`);
    found[name] = value;
  }
  return found;
}

export function fromJson(value: unknown): Value {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      return Number.isInteger(value) ? BigInt(value) : value;
    case 'object':
      if (value === null) return null;
      if (Array.isArray(value)) return value.map(fromJson);
      return new Map(
        Object.entries(value).flatMap(([key, item]) =>
          item === undefined ? [] : [[key, fromJson(item)] as const],
        ),
      );
    default:
      throw new TypeError(`No template can read a ${typeof value}.`);
  }
}
