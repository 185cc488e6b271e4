import type * as z from 'zod';

/**
 * What the editor has kept under a key.
 * @returns undefined when it has kept nothing, or another version of Tandem kept something else
 */
export function recall<T>(
  memory: { get(key: string): unknown },
  key: string,
  schema: () => z.ZodType<T>,
): T | undefined {
  const value = memory.get(key);
  // Most often there is nothing, and nothing is asked at activation that would have the schema made.
  return value === undefined ? undefined : schema().safeParse(value).data;
}
