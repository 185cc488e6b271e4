/** Works on the items with at most `limit` under way. Ends when all are done; after a failure begins no other and throws it. */
export async function inFlight<T>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  // Noted at once: while the next item is waited for, nobody would hear of it.
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
