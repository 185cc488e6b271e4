/** Nobody writes a value of so many levels in earnest, and what calls itself for each of them has room for more. */
const MOST_LEVELS = 500;

/**
 * Whether a value that others wrote is nested so deeply that it must not be taken in. `JSON.parse` reads any depth, but
 * `JSON.stringify`, `structuredClone` and whatever else calls itself for each level would run out of stack.
 */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}
