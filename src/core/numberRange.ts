import * as z from 'zod';

export interface Bounds {
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** Numbers that a setting or an option takes, in the words of JSON schemas. */
export interface NumberRange extends Bounds {
  readonly type: 'number' | 'integer';
}

/** The bounds alone. */
export const boundsOf = ({ minimum, exclusiveMinimum, maximum }: Bounds): Bounds =>
  Object.fromEntries(
    Object.entries({ minimum, exclusiveMinimum, maximum }).filter(([, bound]) => bound !== undefined),
  );

export function isWithin(value: number, range: NumberRange): boolean {
  const { type, minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = range;
  const fits = value >= minimum && value > exclusiveMinimum && value <= maximum;
  return fits && (type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value));
}

/** For sentences: `a number above 0 and at most 1`. */
export function rangeWords({ type, minimum, exclusiveMinimum, maximum }: NumberRange): string {
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  if (minimum !== undefined && maximum !== undefined) return `${kind} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${kind} of at least ${minimum}`;
  const above = exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`];
  const most = maximum === undefined ? [] : [`at most ${maximum}`];
  return [kind, [...above, ...most].join(' and ')].join(' ').trim();
}

export function numberSchema({ type, minimum, exclusiveMinimum, maximum }: NumberRange): z.ZodNumber {
  let schema = type === 'integer' ? z.int() : z.number();
  if (minimum !== undefined) schema = schema.min(minimum);
  if (exclusiveMinimum !== undefined) schema = schema.gt(exclusiveMinimum);
  return maximum === undefined ? schema : schema.max(maximum);
}
