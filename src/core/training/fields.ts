import { METHOD_GROUPS } from './methods';
import { refusalOf, runSchema, type RunSchema, type Schema } from './schema';

/** One value of a configuration, as typed into a form or chosen there. */
export type Kind =
  | { readonly kind: 'text' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** Any number of the values. */
  | { readonly kind: 'several'; readonly values: readonly string[] }
  | (Limits & { readonly kind: 'number' | 'whole' });

/** Inclusive unless `withoutLow` or `withoutHigh` is set. */
export interface Limits {
  readonly low?: number;
  readonly high?: number;
  readonly withoutLow?: boolean;
  readonly withoutHigh?: boolean;
}

export type Field = Kind & {
  readonly title: string;
  readonly description: string;
  readonly default: unknown;
  /** Allowed in place of the value. */
  readonly or?: readonly (string | null)[];
  readonly schema: Schema;
};

type Groups = RunSchema['properties'];

type ReadByTrainer<Fields> = {
  [Name in keyof Fields & string]: Fields[Name] extends { readonly readBy: string } ? never : Name;
}[keyof Fields & string];

export type FieldPath = {
  [Name in keyof Groups]: Groups[Name] extends { readonly properties: infer Inner }
    ? `${Name}.${ReadByTrainer<Inner>}`
    : Name;
}[keyof Groups];

/**
 * Fields that the trainer reads, by path, in the order of the file; without its version, the options of a template and
 * the places of files, except those of methods.
 */
export const fields = Object.fromEntries(fieldsIn(runSchema, '')) as Readonly<Record<FieldPath, Field>>;

/** Absent from a run on this machine. */
export const CLUSTER = 'resources.cluster';

type ClusterFieldPath = `${typeof CLUSTER}.${'address' | 'workers' | 'gpus_per_worker' | 'storage'}`;

/** The storage is a place, and all but the address have a default. */
export const clusterFields = Object.fromEntries(fieldsIn(clusterSchema(), `${CLUSTER}.`, true)) as Readonly<
  Record<ClusterFieldPath, Field>
>;

export const isClusterFieldPath = (path: string): path is ClusterFieldPath =>
  Object.hasOwn(clusterFields, path);

function clusterSchema(): Schema {
  const { anyOf } = runSchema.properties.resources.properties.cluster;
  return anyOf.find((schema: Schema) => schema.properties !== undefined)!;
}

export const isFieldPath = (path: string): path is FieldPath => Object.hasOwn(fields, path);

function fieldsIn({ properties = {} }: Schema, prefix: string, withPlaces = false): [string, Field][] {
  return Object.entries(properties).flatMap(([name, schema]): [string, Field][] => {
    if (schema.readBy !== undefined) return [];
    if (schema.properties !== undefined)
      return fieldsIn(schema, `${prefix}${name}.`, withPlaces || METHOD_GROUPS.has(name));
    const kind = kindOf(schema, withPlaces);
    const { title = '', description = '' } = schema;
    const field = kind && { ...kind, title, description, default: schema.default ?? null, schema };
    return field === undefined ? [] : [[`${prefix}${name}`, field]];
  });
}

function kindOf(schema: Schema, withPlaces: boolean): (Kind & Pick<Field, 'or'>) | undefined {
  const [first, ...others] = schema.anyOf ?? [schema];
  const isPlace = first?.format === 'path' && !withPlaces;
  if (first === undefined || isPlace || 'const' in first) return undefined;
  const kind = plainKind(first);
  if (kind === undefined || others.length === 0) return kind;
  return { ...kind, or: others.map((other) => (typeof other.const === 'string' ? other.const : null)) };
}

function plainKind(schema: Schema): Kind | undefined {
  switch (schema.type) {
    case 'string':
      return schema.enum === undefined
        ? { kind: 'text' }
        : { kind: 'choice', values: schema.enum.map(String) };
    case 'boolean':
      return { kind: 'flag' };
    case 'array':
      return schema.items?.enum && { kind: 'several', values: schema.items.enum.map(String) };
    case 'integer':
      return { kind: 'whole', ...limits(schema) };
    case 'number':
      return { kind: 'number', ...limits(schema) };
    default:
      return undefined;
  }
}

function limits({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Schema): Limits {
  return {
    low: exclusiveMinimum ?? minimum,
    high: exclusiveMaximum ?? maximum,
    withoutLow: exclusiveMinimum !== undefined,
    withoutHigh: exclusiveMaximum !== undefined,
  };
}

export const allows = ({ schema }: Field, value: unknown): boolean => refusalOf(schema, value) === undefined;

/** Undefined when the trainer would not accept it. */
export function valueOf(field: Field, text: string): unknown {
  const value = parsed(field, text.trim());
  return value !== undefined && allows(field, value) ? value : undefined;
}

function parsed(field: Field, typed: string): unknown {
  const word = field.or?.find((other) => textOf(other) === typed);
  if (word !== undefined) return word;
  switch (field.kind) {
    case 'text':
    case 'choice':
      return typed;
    case 'flag':
      return typed === 'true' ? true : typed === 'false' ? false : undefined;
    case 'several':
      return typed === '' ? [] : typed.split(',').map((one) => one.trim());
    case 'whole':
    case 'number':
      return /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(typed) ? Number(typed) : undefined;
  }
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
