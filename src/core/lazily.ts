/**
 * Makes a value on the first call and keeps it. For schemas that are seldom needed: making one takes longer than using
 * it, and the first one loads zod, which would be a third of the extension's activation time.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
