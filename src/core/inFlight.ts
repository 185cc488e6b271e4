/** Works on the items with at most `limit` under way. Ends when all are done; throws the first failure. */
export async function inFlight<T>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let index = 0;
  try {
    for await (const item of items) {
      const one = work(item, index++).finally(() => running.delete(one));
      running.add(one);
      if (running.size >= limit) await Promise.race(running);
    }
    await Promise.all(running);
  } finally {
    await Promise.allSettled(running);
  }
}
