/**
 * Makes a value on the first call and keeps it. For schemas that are seldom needed: making one takes longer than using
 * it, and the first one loads zod, which would be a third of the extension's activation time.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The values that were used last, by a text. One that cannot be made is not kept. */
export class LastUsed<T> {
  private readonly kept = new Map<string, Promise<T>>();

  constructor(private readonly most: number) {}

  async get(key: string, make: () => Promise<T>): Promise<T> {
    const value = this.kept.get(key) ?? make();
    // A Map lists its keys in the order of insertion, so the first is the least recently used.
    this.kept.delete(key);
    this.kept.set(key, value);
    if (this.kept.size > this.most) this.kept.delete(this.kept.keys().next().value!);
    try {
      return await value;
    } catch (error) {
      this.kept.delete(key);
      throw error;
    }
  }
}
