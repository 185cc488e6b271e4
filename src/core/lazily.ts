/**
 * A value that is made when it is first asked for, and kept. For schemas of what is seldom read: to make one takes longer
 * than to use it, and the first one has zod itself read, which would be a third of what the editor waits for at activation.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
