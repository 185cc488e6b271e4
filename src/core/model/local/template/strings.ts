// Methods of Python's `str`, and its two ways of formatting.

import {
  capitalize,
  isLower,
  isSpace,
  isUpper,
  splitLines,
  stripEnd,
  stripStart,
  titleCase,
} from './characters';
import {
  integerOf,
  isDict,
  isTrue,
  iterate,
  named,
  refused,
  repr,
  TemplateError,
  textOf,
  Tuple,
  typeName,
  type Given,
  type Value,
} from './values';

type Method = (text: string, given: Given) => Value;

function textArgument(what: string, value: Value | undefined): string {
  if (typeof value !== 'string')
    throw new TemplateError(`\`${what}\` needs a text, not ${typeName(value ?? null)}`);
  return value;
}

function integerArgument(what: string, value: Value | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  const integer = integerOf(value);
  if (integer === undefined) throw new TemplateError(`\`${what}\` needs an integer, not ${typeName(value)}`);
  return Number(integer);
}

function positional(what: string, given: Given, most: number): readonly Value[] {
  if (given.named.size > 0 || given.positional.length > most)
    throw new TemplateError(`\`${what}\` takes ${most} arguments without names`);
  return given.positional;
}

const plain =
  (name: string, method: (text: string) => Value): Method =>
  (text, given) => {
    positional(name, given, 0);
    return method(text);
  };

const stripping =
  (name: string, strip: (text: string, characters?: string) => string): Method =>
  (text, given) => {
    const [characters = null] = positional(name, given, 1);
    return strip(text, characters === null ? undefined : textArgument(name, characters));
  };

export const strip = (text: string, characters?: string): string =>
  stripEnd(stripStart(text, characters), characters);

/** `startswith` and `endswith`, also of one of several texts. */
const affix =
  (name: string, matches: (text: string, affix: string) => boolean): Method =>
  (text, given) => {
    if (given.positional.length > 1) throw refused(`\`${name}\` with a position`);
    const [value] = positional(name, given, 1);
    const affixes = value instanceof Tuple ? value.items : [value];
    return affixes.map((each) => textArgument(name, each)).some((each) => matches(text, each));
  };

/** Searches for a text without positions; -1 where it is not. */
const finding =
  (name: string, find: (text: string, searched: string) => number, missing: boolean): Method =>
  (text, given) => {
    if (given.positional.length > 1) throw refused(`\`${name}\` with a position`);
    const at = find(text, textArgument(name, positional(name, given, 1)[0]));
    if (at < 0 && !missing) throw new TemplateError(`\`${name}\` does not find the text`);
    return at < 0 ? -1n : BigInt(Array.from(text.slice(0, at)).length);
  };

const parted =
  (name: string, find: (text: string, separator: string) => number, whole: 0 | 2): Method =>
  (text, given) => {
    const separator = textArgument(name, positional(name, given, 1)[0]);
    if (separator === '') throw new TemplateError('empty separator');
    const at = find(text, separator);
    if (at < 0) return new Tuple(whole === 0 ? [text, '', ''] : ['', '', text]);
    return new Tuple([text.slice(0, at), separator, text.slice(at + separator.length)]);
  };

function split(text: string, given: Given): Value {
  const { sep = null, maxsplit } = named('split', given, 'sep', 'maxsplit');
  const most = limit(integerArgument('split', maxsplit, -1));
  if (sep === null) return splitWords(text, most);
  const separator = textArgument('split', sep);
  if (separator === '') throw new TemplateError('empty separator');
  const parts = text.split(separator);
  if (parts.length <= most + 1) return parts;
  return [...parts.slice(0, most), parts.slice(most).join(separator)];
}

function rsplit(text: string, given: Given): Value {
  const { sep = null, maxsplit } = named('rsplit', given, 'sep', 'maxsplit');
  const most = limit(integerArgument('rsplit', maxsplit, -1));
  const backwards = (each: string): string => Array.from(each).reverse().join('');
  if (sep === null) return splitWords(backwards(text), most).map(backwards).reverse();
  const separator = textArgument('rsplit', sep);
  if (separator === '') throw new TemplateError('empty separator');
  const parts: string[] = [];
  let end = text.length;
  while (parts.length < most) {
    const at = end < separator.length ? -1 : text.lastIndexOf(separator, end - separator.length);
    if (at < 0) break;
    parts.push(text.slice(at + separator.length, end));
    end = at;
  }
  return [...parts, text.slice(0, end)].reverse();
}

const limit = (most: number): number => (most < 0 ? Infinity : most);

function splitWords(text: string, most: number): string[] {
  const words: string[] = [];
  let rest = stripStart(text);
  while (rest !== '') {
    if (words.length >= most) return [...words, rest];
    const characters = Array.from(rest);
    const end = characters.findIndex(isSpace);
    if (end < 0) return [...words, rest];
    words.push(characters.slice(0, end).join(''));
    rest = stripStart(characters.slice(end).join(''));
  }
  return words;
}

export function replace(text: string, old: string, by: string, most: number): string {
  const parts = old === '' ? ['', ...Array.from(text), ''] : text.split(old);
  const changed = most < 0 ? parts.length - 1 : Math.min(most, parts.length - 1);
  return (
    parts.slice(0, changed + 1).join(by) +
    parts
      .slice(changed + 1)
      .map((part) => old + part)
      .join('')
  );
}

function replaceMethod(text: string, given: Given): Value {
  const count = given.named.get('count') ?? given.positional[2];
  if (given.positional.length > 3 || [...given.named.keys()].some((name) => name !== 'count'))
    throw new TemplateError('`replace` takes two texts and a count');
  const [old, by] = given.positional;
  return replace(
    text,
    textArgument('replace', old),
    textArgument('replace', by),
    integerArgument('replace', count, -1),
  );
}

const only = (name: string, pattern: RegExp): Method =>
  plain(name, (text) => text !== '' && Array.from(text).every((character) => pattern.test(character)));

const aligned =
  (name: string, pad: (text: string, missing: number, fill: string) => string): Method =>
  (text, given) => {
    const [width, fill = ' '] = positional(name, given, 2);
    const missing = integerArgument(name, width, 0) - Array.from(text).length;
    return missing > 0 ? pad(text, missing, textArgument(name, fill)) : text;
  };

export const STRING_METHODS: Readonly<Record<string, Method>> = {
  capitalize: plain('capitalize', capitalize),
  count: (text, given) => {
    const searched = textArgument('count', positional('count', given, 1)[0]);
    return BigInt(searched === '' ? Array.from(text).length + 1 : text.split(searched).length - 1);
  },
  endswith: affix('endswith', (text, end) => text.endsWith(end)),
  find: finding('find', (text, searched) => text.indexOf(searched), true),
  format: formatMethod,
  index: finding('index', (text, searched) => text.indexOf(searched), false),
  isalnum: only('isalnum', /[\p{L}\p{N}]/u),
  isalpha: only('isalpha', /\p{L}/u),
  isdigit: only('isdigit', /\p{Nd}|[\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]/u),
  islower: plain('islower', isLower),
  isspace: plain('isspace', (text) => text !== '' && Array.from(text).every(isSpace)),
  isupper: plain('isupper', isUpper),
  join: (text, given) =>
    iterate(positional('join', given, 1)[0] ?? null)
      .map((item) => textArgument('join', item))
      .join(text),
  ljust: aligned('ljust', (text, missing, fill) => text + fill.repeat(missing)),
  lower: plain('lower', (text) => text.toLowerCase()),
  lstrip: stripping('lstrip', stripStart),
  partition: parted('partition', (text, separator) => text.indexOf(separator), 0),
  removeprefix: (text, given) => {
    const prefix = textArgument('removeprefix', positional('removeprefix', given, 1)[0]);
    return text.startsWith(prefix) ? text.slice(prefix.length) : text;
  },
  removesuffix: (text, given) => {
    const suffix = textArgument('removesuffix', positional('removesuffix', given, 1)[0]);
    return text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text;
  },
  replace: replaceMethod,
  rfind: finding('rfind', (text, searched) => text.lastIndexOf(searched), true),
  rjust: aligned('rjust', (text, missing, fill) => fill.repeat(missing) + text),
  rpartition: parted('rpartition', (text, separator) => text.lastIndexOf(separator), 2),
  rsplit,
  rstrip: stripping('rstrip', stripEnd),
  split,
  splitlines: (text, given) =>
    splitLines(text, isTrue(named('splitlines', given, 'keepends').keepends ?? false)),
  startswith: affix('startswith', (text, start) => text.startsWith(start)),
  strip: stripping('strip', strip),
  title: plain('title', titleCase),
  upper: plain('upper', (text) => text.toUpperCase()),
};

const FIELD = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;
const CONVERSION = /%(\([^)]*\)|.|$)/gsu;

/** @throws {TemplateError} if `str.format` of the text does what is not rendered */
export function checkFormat(text: string): void {
  for (const [, field] of text.matchAll(FIELD))
    if (field !== undefined && !/^\w*$/.test(field))
      throw refused(`the field \`{${field}}\` of \`str.format\``);
}

/** @throws {TemplateError} if `%` of the text does what is not rendered */
export function checkPercent(text: string): void {
  for (const [mark, conversion = ''] of text.matchAll(CONVERSION))
    if (!['%', 's', 'r', 'd', 'i'].includes(conversion))
      throw refused(`the conversion \`${mark}\` of \`%\` on a text`);
}

/** Fields are `{}`, `{0}` or `{name}`; others are refused. */
function formatMethod(text: string, given: Given): Value {
  checkFormat(text);
  let next = 0;
  return text.replace(FIELD, (mark, field: string | undefined) => {
    if (mark === '{{' || mark === '}}') return mark.charAt(0);
    if (field === undefined) throw new TemplateError('`str.format` finds a single brace');
    const isIndex = /^\d*$/.test(field);
    const value = isIndex ? given.positional[field === '' ? next++ : Number(field)] : given.named.get(field);
    if (value === undefined) throw new TemplateError(`\`str.format\` has no value for \`{${field}}\``);
    return textOf(value);
  });
}

/** `text % values` with `%s`, `%r`, `%d`, `%i` and `%%`; other conversions are refused. */
export function formatPercent(text: string, values: Value): string {
  checkPercent(text);
  const items = values instanceof Tuple ? values.items : [values];
  let next = 0;
  const formatted = text.replace(CONVERSION, (_, conversion: string) => {
    if (conversion === '%') return '%';
    const value = items[next++];
    if (value === undefined) throw new TemplateError('not enough values for `%`');
    if (conversion === 's') return textOf(value);
    if (conversion === 'r') return repr(value);
    const integer = integerOf(value);
    if (integer === undefined) throw refused(`\`%${conversion}\` of ${typeName(value)}`);
    return String(integer);
  });
  if (next < items.length && !(next === 0 && isDict(values)))
    throw new TemplateError('too many values for `%`');
  return formatted;
}
