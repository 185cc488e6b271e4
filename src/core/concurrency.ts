/**
 * At most `limit` items at a time. Resolves when all are done; after a failure it starts no more items and throws the
 * first error once the running ones have ended.
 */
export async function inFlight<T>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  // Errors are caught at once: a rejection during the wait for the next item would otherwise be unhandled.
  const failures: unknown[] = [];
  let index = 0;
  try {
    for await (const item of items) {
      if (failures.length > 0) break;
      const one = work(item, index++)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(one));
      running.add(one);
      if (running.size >= limit) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  if (failures.length > 0) throw failures[0];
}
