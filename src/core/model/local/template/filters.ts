// Filters and tests of jinja2 (`jinja2/filters.py`, `jinja2/tests.py`), `tojson` as transformers defines it.

import { capitalize, isLower, isUpper, splitLines } from './characters';
import { formatPercent, replace, strip } from './strings';
import {
  areEqual,
  Callable,
  compare,
  contains,
  integerOf,
  isDict,
  isNumber,
  isTrue,
  iterate,
  lengthOf,
  Marked,
  named,
  Namespace,
  Once,
  orElse,
  refused,
  reprFloat,
  TemplateError,
  textOf,
  Tuple,
  typeName,
  Undefined,
  View,
  type Given,
  type Value,
} from './values';

export interface Lookup {
  /** `object[key]`, or else the attribute. */
  item(object: Value, key: Value): Value;
}

type Filter = (value: Value, given: Given, lookup: Lookup) => Value;
type Test = (value: Value, given: Given) => boolean;

const plain =
  (name: string, filter: (value: Value) => Value): Filter =>
  (value, given) => {
    named(name, given);
    return filter(value);
  };

const ofText = (name: string, filter: (text: string) => string): Filter =>
  plain(name, (value) => filter(plainText(value)));

function plainText(value: Value): string {
  if (value instanceof Marked) throw refused('a filter on a text marked `safe`');
  return textOf(value);
}

function integer(what: string, value: Value): number {
  const found = integerOf(value);
  if (found === undefined) throw new TemplateError(`\`${what}\` needs an integer, not ${typeName(value)}`);
  return Number(found);
}

const WORD_BEGINNING = /[-\s({[<]/u;

function title(text: string): string {
  let begins = true;
  return Array.from(text, (character) => {
    const changed = begins ? character.toUpperCase() : character.toLowerCase();
    begins = WORD_BEGINNING.test(character);
    return changed;
  }).join('');
}

function indent(value: Value, given: Given): Value {
  const { width = 4n, first = false, blank = false } = named('indent', given, 'width', 'first', 'blank');
  if (typeof value !== 'string') throw new TemplateError(`\`indent\` needs a text, not ${typeName(value)}`);
  const space = typeof width === 'string' ? width : ' '.repeat(Math.max(0, integer('indent', width)));
  const [start = '', ...lines] = splitLines(`${value}\n`);
  const begun = lines.map((line) => (line === '' && !isTrue(blank) ? line : space + line));
  return (isTrue(first) ? space : '') + [start, ...begun].join('\n');
}

/** Reads attributes such as `function.name`, or `0.name` of lists. */
function getter(lookup: Lookup, attribute: Value, otherwise: Value = null): (item: Value) => Value {
  if (attribute === null) return (item) => item;
  const path = typeof attribute === 'string' ? attribute.split('.') : [attribute];
  const keys = path.map((part) => (typeof part === 'string' && /^\d+$/.test(part) ? BigInt(part) : part));
  return (item) => {
    let value = item;
    for (const key of keys) {
      value = lookup.item(value, key);
      if (otherwise !== null && value instanceof Undefined) value = otherwise;
    }
    return value;
  };
}

const ignoringCase = (value: Value): Value => (typeof value === 'string' ? value.toLowerCase() : value);

/** What items are compared by. */
function keyOfItem(lookup: Lookup, attribute: Value, isExact: Value): (item: Value) => Value {
  const read = getter(lookup, attribute);
  return isTrue(isExact) ? read : (item) => ignoringCase(read(item));
}

function sorted(items: readonly Value[], key: (item: Value) => Value, reverse: boolean): Value[] {
  const keyed = items.map((item) => [key(item), item] as const);
  return keyed.sort(([a], [b]) => (reverse ? compare(b, a) : compare(a, b))).map(([, item]) => item);
}

function sort(value: Value, given: Given, lookup: Lookup): Value {
  const names = ['reverse', 'case_sensitive', 'attribute'] as const;
  const { reverse = false, case_sensitive = false, attribute = null } = named('sort', given, ...names);
  return sorted(iterate(value), keyOfItem(lookup, attribute, case_sensitive), isTrue(reverse));
}

function dictsort(value: Value, given: Given): Value {
  const names = ['case_sensitive', 'by', 'reverse'] as const;
  const { case_sensitive = false, by = 'key', reverse = false } = named('dictsort', given, ...names);
  if (by !== 'key' && by !== 'value') throw new TemplateError('`dictsort` sorts by "key" or "value"');
  if (!isDict(value)) throw new TemplateError(`\`dictsort\` needs a dict, not ${typeName(value)}`);
  const key = (item: Value): Value => {
    const part = item instanceof Tuple ? (item.items[by === 'key' ? 0 : 1] ?? null) : null;
    return isTrue(case_sensitive) ? part : ignoringCase(part);
  };
  return sorted(
    [...value].map((entry) => new Tuple(entry)),
    key,
    isTrue(reverse),
  );
}

function unique(value: Value, given: Given, lookup: Lookup): Value {
  const { case_sensitive = false, attribute = null } = named('unique', given, 'case_sensitive', 'attribute');
  const keyOf = keyOfItem(lookup, attribute, case_sensitive);
  const seen: Value[] = [];
  return new Once(
    iterate(value).filter((item) => {
      const key = keyOf(item);
      if (Array.isArray(key) || isDict(key)) throw new TemplateError(`${typeName(key)} cannot be a key`);
      if (seen.some((each) => areEqual(each, key))) return false;
      seen.push(key);
      return true;
    }),
  );
}

/** `map` and `select` take anything false for nothing. */
const itemsOf = (value: Value): readonly Value[] => (isTrue(value) ? iterate(value) : []);

function map(value: Value, given: Given, lookup: Lookup): Value {
  if (given.positional.length === 0) {
    const { attribute = null, default: otherwise } = named('map', given, 'attribute', 'default');
    if (attribute === null) throw new TemplateError('`map` needs a filter or an attribute');
    return new Once(itemsOf(value).map(getter(lookup, attribute, otherwise)));
  }
  const [name, ...others] = given.positional;
  const filter = typeof name === 'string' ? filterNamed(name) : undefined;
  if (filter === undefined) throw refused(`\`map\` with the filter \`${textOf(name ?? null)}\``);
  const rest = { positional: others, named: given.named };
  return new Once(itemsOf(value).map((item) => filter(item, rest, lookup)));
}

/** `select`, `reject` and, with an attribute, `selectattr` and `rejectattr`. */
const selecting =
  (name: string, wanted: boolean, attributes: boolean): Filter =>
  (value, given, lookup) => {
    const [attribute, ...others] = attributes ? given.positional : [null, ...given.positional];
    if (attribute === undefined) throw new TemplateError(`\`${name}\` needs an attribute`);
    const read = getter(lookup, attribute);
    const [testName, ...rest] = others;
    const test =
      typeof testName === 'string' ? testNamed(testName) : testName === undefined ? isTrue : undefined;
    if (test === undefined) throw refused(`\`${name}\` with the test \`${textOf(testName ?? null)}\``);
    const more = { positional: rest, named: given.named };
    return new Once(itemsOf(value).filter((item) => test(read(item), more) === wanted));
  };

/** `max` and `min`: the first of equal ones. */
const extreme =
  (name: string, isBetter: (order: number) => boolean): Filter =>
  (value, given, lookup) => {
    const { case_sensitive = false, attribute = null } = named(name, given, 'case_sensitive', 'attribute');
    const key = keyOfItem(lookup, attribute, case_sensitive);
    const [first, ...others] = iterate(value);
    if (first === undefined) return new Undefined(name);
    return others.reduce((best, item) => (isBetter(compare(key(item), key(best))) ? item : best), first);
  };

interface JsonStyle {
  readonly ascii: boolean;
  readonly indent: string | undefined;
  readonly separators: readonly [string, string];
  readonly sorted: boolean;
}

function tojson(value: Value, given: Given): Value {
  const names = ['ensure_ascii', 'indent', 'separators', 'sort_keys'] as const;
  const {
    ensure_ascii = false,
    indent: width = null,
    separators = null,
    sort_keys = false,
  } = named('tojson', given, ...names);
  const space =
    width === null
      ? undefined
      : typeof width === 'string'
        ? width
        : ' '.repeat(Math.max(0, integer('tojson', width)));
  const [item, key] =
    separators === null ? [space === undefined ? ', ' : ',', ': '] : iterate(separators).map(textOf);
  return json(value, {
    ascii: isTrue(ensure_ascii),
    indent: space,
    separators: [item ?? '', key ?? ''],
    sorted: isTrue(sort_keys),
  });
}

function json(value: Value, style: JsonStyle, line = '\n'): string {
  const inner = line + (style.indent ?? '');
  const list = (open: string, parts: readonly string[], close: string): string => {
    if (parts.length === 0) return open + close;
    const [item] = style.separators;
    if (style.indent === undefined) return open + parts.join(item) + close;
    return open + inner + parts.join(item + inner) + line + close;
  };
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return jsonFloat(value);
  if (typeof value === 'string' || value instanceof Marked) return jsonText(textOf(value), style.ascii);
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
  if (items !== undefined)
    return list(
      '[',
      items.map((each) => json(each, style, inner)),
      ']',
    );
  if (!isDict(value)) throw new TemplateError(`\`tojson\` cannot write ${typeName(value)}`);
  const entries = style.sorted ? [...value].sort(([a], [b]) => compare(a, b)) : [...value];
  const written = entries.map(
    ([key, each]) => jsonText(String(key), style.ascii) + style.separators[1] + json(each, style, inner),
  );
  return list('{', written, '}');
}

function jsonFloat(value: number): string {
  if (Number.isFinite(value)) return reprFloat(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

function jsonText(text: string, ascii: boolean): string {
  const written = JSON.stringify(text);
  if (!ascii) return written;
  return written.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function toInteger(value: Value, given: Given): Value {
  if (value instanceof Undefined) throw new TemplateError(`\`int\` of ${typeName(value)}`);
  const { default: otherwise = 0n, base = 10n } = named('int', given, 'default', 'base');
  if (base !== 10n) throw refused('`int` with another base than ten');
  if (typeof value === 'number') return Number.isFinite(value) ? BigInt(Math.trunc(value)) : otherwise;
  if (typeof value !== 'string') return integerOf(value) ?? otherwise;
  const text = strip(value);
  if (/^[+-]?\d+$/.test(text)) return BigInt(text.replace('+', ''));
  const float = parsedFloat(text);
  return float === undefined || !Number.isFinite(float) ? otherwise : BigInt(Math.trunc(float));
}

function toFloat(value: Value, given: Given): Value {
  if (value instanceof Undefined) throw new TemplateError(`\`float\` of ${typeName(value)}`);
  const { default: otherwise = 0 } = named('float', given, 'default');
  if (isNumber(value)) return Number(value);
  return (typeof value === 'string' ? parsedFloat(strip(value)) : undefined) ?? otherwise;
}

function parsedFloat(text: string): number | undefined {
  if (/^[+-]?(\d+\.?|\d*\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (/^[+-]?(inf|infinity|nan)$|_|[^ -~]/i.test(text)) throw refused(`the number \`${text}\``);
  return undefined;
}

function last(value: Value): Value {
  if (value instanceof Once) throw new TemplateError('the last of a generator');
  return orElse(iterate(value).at(-1), () => new Undefined('last'));
}

function sum(value: Value, given: Given, lookup: Lookup): Value {
  const { attribute = null, start = 0n } = named('sum', given, 'attribute', 'start');
  const items = [start, ...iterate(value).map(getter(lookup, attribute))].map(integerOf);
  return items.reduce<bigint>((total, item) => {
    if (item === undefined) throw refused('`sum` of what are no integers');
    return total + item;
  }, 0n);
}

const filterDefault: Filter = (value, given) => {
  const { default_value = '', boolean = false } = named('default', given, 'default_value', 'boolean');
  return value instanceof Undefined || (isTrue(boolean) && !isTrue(value)) ? default_value : value;
};

export const FILTERS: Readonly<Record<string, Filter>> = {
  abs: plain('abs', (value) => {
    if (!isNumber(value)) throw new TemplateError(`\`abs\` of ${typeName(value)}`);
    const number = typeof value === 'boolean' ? BigInt(value) : value;
    return number < 0 ? -number : number;
  }),
  capitalize: ofText('capitalize', capitalize),
  count: plain('count', lengthOf),
  d: filterDefault,
  default: filterDefault,
  dictsort,
  first: plain('first', (value) => orElse(iterate(value)[0], () => new Undefined('first'))),
  float: toFloat,
  format: (value, given) => {
    if (given.named.size > 0) throw refused('the filter `format` with names');
    return formatPercent(plainText(value), new Tuple(given.positional));
  },
  indent,
  int: toInteger,
  items: plain('items', (value) => {
    if (value instanceof Undefined) return new Once([]);
    if (!isDict(value)) throw new TemplateError(`\`items\` of ${typeName(value)}`);
    return new Once([...value].map((entry) => new Tuple(entry)));
  }),
  join: (value, given, lookup) => {
    const { d = '', attribute = null } = named('join', given, 'd', 'attribute');
    return iterate(value).map(getter(lookup, attribute)).map(plainText).join(plainText(d));
  },
  last: plain('last', last),
  length: plain('length', lengthOf),
  list: plain('list', (value) => [...iterate(value)]),
  lower: ofText('lower', (text) => text.toLowerCase()),
  map,
  max: extreme('max', (order) => order > 0),
  min: extreme('min', (order) => order < 0),
  reject: selecting('reject', false, false),
  rejectattr: selecting('rejectattr', false, true),
  replace: (value, given) => {
    const { old, new: by, count = null } = named('replace', given, 'old', 'new', 'count');
    if (old === undefined || by === undefined) throw new TemplateError('`replace` takes two texts');
    return replace(
      plainText(value),
      plainText(old),
      plainText(by),
      count === null ? -1 : integer('replace', count),
    );
  },
  reverse: plain('reverse', (value) => {
    const items = [...iterate(value)].reverse();
    return typeof value === 'string'
      ? items.map(textOf).join('')
      : value instanceof Once
        ? items
        : new Once(items);
  }),
  safe: plain('safe', (value) => new Marked(textOf(value))),
  select: selecting('select', true, false),
  selectattr: selecting('selectattr', true, true),
  sort,
  string: plain('string', (value) => (value instanceof Marked ? value : textOf(value))),
  sum,
  title: ofText('title', title),
  tojson,
  trim: (value, given) => {
    const { chars = null } = named('trim', given, 'chars');
    return strip(plainText(value), chars === null ? undefined : plainText(chars));
  },
  unique,
  upper: ofText('upper', (text) => text.toUpperCase()),
};

const argument = (name: string, given: Given): Value => {
  const [value] = given.positional;
  if (value === undefined || given.positional.length > 1)
    throw new TemplateError(`\`is ${name}\` takes one value`);
  return value;
};
const none =
  (test: (value: Value) => boolean): Test =>
  (value, given) => {
    named('is', given);
    return test(value);
  };
const ordered =
  (name: string, test: (order: number) => boolean): Test =>
  (value, given) =>
    test(compare(value, argument(name, given)));
const equal: Test = (value, given) => areEqual(value, argument('eq', given));
const unequal: Test = (value, given) => !areEqual(value, argument('ne', given));
const greater = ordered('gt', (order) => order > 0);
const less = ordered('lt', (order) => order < 0);

function modulo(value: Value, by: bigint): bigint {
  const number = integerOf(value);
  if (number === undefined || by === 0n) throw new TemplateError(`the remainder of ${typeName(value)}`);
  return ((number % by) + by) % by;
}

export const TESTS: Readonly<Record<string, Test>> = {
  '!=': unequal,
  '<': less,
  '<=': ordered('<=', (order) => order <= 0),
  '==': equal,
  '>': greater,
  '>=': ordered('>=', (order) => order >= 0),
  boolean: none((value) => typeof value === 'boolean'),
  callable: none((value) => value instanceof Callable || value instanceof Undefined),
  defined: none((value) => !(value instanceof Undefined)),
  divisibleby: (value, given) =>
    modulo(value, BigInt(integer('divisibleby', argument('divisibleby', given)))) === 0n,
  eq: equal,
  equalto: equal,
  even: none((value) => modulo(value, 2n) === 0n),
  false: none((value) => value === false),
  float: none((value) => typeof value === 'number'),
  ge: ordered('ge', (order) => order >= 0),
  greaterthan: greater,
  gt: greater,
  in: (value, given) => contains(argument('in', given), value),
  integer: none((value) => typeof value === 'bigint'),
  iterable: none(
    (value) =>
      !(value === null || isNumber(value) || value instanceof Namespace || value instanceof Callable),
  ),
  le: ordered('le', (order) => order <= 0),
  lessthan: less,
  lower: none((value) => isLower(textOf(value))),
  lt: less,
  mapping: none(isDict),
  ne: unequal,
  none: none((value) => value === null),
  number: none(isNumber),
  odd: none((value) => modulo(value, 2n) === 1n),
  sequence: none((value) => {
    if (value instanceof View) return value.kind === 'range';
    const isSized = value instanceof Tuple || value instanceof Marked || value instanceof Undefined;
    return typeof value === 'string' || Array.isArray(value) || isDict(value) || isSized;
  }),
  string: none((value) => typeof value === 'string' || value instanceof Marked),
  true: none((value) => value === true),
  undefined: none((value) => value instanceof Undefined),
  upper: none((value) => isUpper(textOf(value))),
};

export const filterNamed = (name: string): Filter | undefined =>
  Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
export const testNamed = (name: string): Test | undefined =>
  Object.hasOwn(TESTS, name) ? TESTS[name] : undefined;
