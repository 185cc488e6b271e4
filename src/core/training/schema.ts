import * as z from 'zod';
import schema from '../../../media/run.schema.json';
import { isObject } from '../json';

/**
 * The JSON schema of a run's configuration, made from the trainer's `config.py`. Only the keywords that it uses are
 * read here; a configuration is refused with the trainer's own sentence (`trainer/tests/refusals.json` is shared).
 */
export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly format?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly default?: unknown;
  /** Fields without it are read by the trainer. */
  readonly readBy?: string;
}

export type RunSchema = typeof schema;
export const runSchema: RunSchema & Schema = schema;

/**
 * One sentence without a full stop; undefined for an allowed value.
 * @param where the path of the value; empty for the whole file
 */
export function refusalOf(node: Schema, value: unknown, where = ''): string | undefined {
  const refusals = [...refusalsOf(node, value, where)];
  // A mistyped name is missing as well.
  return (refusals.find(({ isUnknown }) => isUnknown === true) ?? refusals[0])?.sentence;
}

interface Refusal {
  readonly sentence: string;
  readonly isUnknown?: boolean;
}

function* refusalsOf(node: Schema, value: unknown, where: string): Generator<Refusal> {
  // An object that names no fields may have any.
  const group = node.anyOf?.find(({ properties = {} }) => Object.keys(properties).length > 0);
  if (group !== undefined && isObject(value)) {
    yield* refusalsOf(group, value, where);
  } else if (!matches(node, value)) {
    yield { sentence: `${where || 'the file'} must ${words(node)}, not ${shown(value)}` };
  } else if (node.items !== undefined && Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* refusalsOf(node.items, item, `${where}[${index}]`);
  } else if (node.properties !== undefined && isObject(value)) {
    const { properties, required = [] } = node;
    const inside = (name: string): string => (where === '' ? name : `${where}.${name}`);
    for (const name of required)
      if (!Object.hasOwn(value, name)) yield { sentence: `${inside(name)} is missing` };
    for (const [name, entry] of Object.entries(value)) {
      if (Object.hasOwn(properties, name)) yield* refusalsOf(properties[name]!, entry, inside(name));
      else
        yield {
          sentence: `${where || 'the file'} has no field "${name}"; the nearest is "${nearest(name, Object.keys(properties))}"`,
          isUnknown: true,
        };
    }
  }
}

/** Ignores the elements of a list or an object. */
function matches(node: Schema, value: unknown): boolean {
  if (node.anyOf !== undefined) return node.anyOf.some((each) => matches(each, value));
  if ('const' in node) return value === node.const;
  if (node.enum !== undefined) return node.enum.includes(value);
  switch (node.type) {
    case 'string':
      return (
        typeof value === 'string' && value.length >= (node.minLength ?? 0) && hasForm(node.format, value)
      );
    case 'integer':
      return Number.isInteger(value) && isWithin(node, value as number);
    case 'number':
      return Number.isFinite(value) && isWithin(node, value as number);
    case 'boolean':
      return typeof value === 'boolean';
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      throw new Error(`The schema of run.json has a type that is not read here: ${node.type}.`);
  }
}

function hasForm(format: string | undefined, value: string): boolean {
  if (format === 'date') return z.iso.date().safeParse(value).success;
  if (format === 'date-time') return z.iso.datetime({ offset: true }).safeParse(value).success;
  return true;
}

const isWithin = (
  { minimum = -Infinity, exclusiveMinimum, maximum = Infinity, exclusiveMaximum }: Schema,
  value: number,
): boolean =>
  value >= minimum &&
  value <= maximum &&
  (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
  (exclusiveMaximum === undefined || value < exclusiveMaximum);

/** As in `be a number above 0 or null`. */
function words(node: Schema): string {
  if (node.properties !== undefined) return 'hold an object';
  return `be ${(node.anyOf ?? [node]).map(kind).join(' or ')}`;
}

const KINDS: Readonly<Record<string, string>> = {
  ...{ integer: 'a whole number', number: 'a number', string: 'text', boolean: 'true or false' },
  ...{ object: 'an object', array: 'a list' },
  ...{ date: 'a date (2026-03-01)', 'date-time': 'a time with its offset (2026-03-01T12:00:00Z)' },
};

function kind(node: Schema): string {
  const values = node.enum ?? ('const' in node ? [node.const] : undefined);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' or ');
  const { format = '', type = '', minLength = 0 } = node;
  const limits = [
    ...(node.minimum === undefined ? [] : [`of at least ${node.minimum}`]),
    ...(node.exclusiveMinimum === undefined ? [] : [`above ${node.exclusiveMinimum}`]),
    ...(node.maximum === undefined ? [] : [`at most ${node.maximum}`]),
    ...(node.exclusiveMaximum === undefined ? [] : [`below ${node.exclusiveMaximum}`]),
    ...(minLength === 0 ? [] : ['that is not empty']),
  ];
  return [KINDS[format] ?? KINDS[type] ?? type, limits.join(' and ')].filter((part) => part !== '').join(' ');
}

function shown(value: unknown): string {
  // Separators as the trainer has them.
  const text = JSON.stringify(value, undefined, 1).replaceAll(/,\n */g, ', ').replaceAll(/\n */g, '');
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

/** The fewest insertions, deletions and replacements. */
function nearest(typed: string, names: readonly string[]): string | undefined {
  const distances = names.map((name) => distance(typed.slice(0, MAX_VALUE_CHARS), name));
  return names[distances.indexOf(Math.min(...distances))];
}

/** The typed text may be of any length. */
const MAX_VALUE_CHARS = 60;

function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 0; index < one.length; index += 1) {
    const next = [index + 1];
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = row[column - 1]! + (one[index] === other[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[column]! + 1, next[column - 1]! + 1));
    }
    row = next;
  }
  return row[other.length]!;
}
