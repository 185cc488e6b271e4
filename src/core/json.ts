/** Undefined for invalid JSON, such as a line that a crash tore. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Real values are never deeper, and recursive functions have stack for more. */
const MAX_LEVELS = 500;

/**
 * For a value from outside. `JSON.parse` reads any depth, but `JSON.stringify`, `structuredClone` and other recursive
 * functions would overflow the stack.
 */
export function isTooDeep(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
