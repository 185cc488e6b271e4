import type * as z from 'zod';

/** Undefined also when another version of Tandem stored something else. */
export function recall<T>(
  memory: { get(key: string): unknown },
  key: string,
  schema: () => z.ZodType<T>,
): T | undefined {
  const value = memory.get(key);
  // Usually there is no value; then activation need not build the schema.
  return value === undefined ? undefined : schema().safeParse(value).data;
}
