import type * as z from 'zod';

/**
 * Reads a value that the editor has kept under a key.
 * @returns undefined when there is none, or another version of Tandem stored something else
 */
export function recall<T>(
  memory: { get(key: string): unknown },
  key: string,
  schema: () => z.ZodType<T>,
): T | undefined {
  const value = memory.get(key);
  // Usually there is no value; then activation need not build the schema.
  return value === undefined ? undefined : schema().safeParse(value).data;
}
