/**
 * Walks through earlier replies with the arrow keys, as a shell does: up from an empty composer, and on from a reply
 * that was recalled and not changed.
 *
 * @param replies from the oldest to the newest
 * @returns what the composer holds then; undefined: the key is the composer's own
 */
export function recalled(replies: readonly string[], draft: string, key: string): string | undefined {
  // Each once, where it was said last, so that the draft alone tells how far the walk has come.
  const past = replies.filter((reply, index) => replies.lastIndexOf(reply) === index);
  const here = draft === '' ? past.length : past.indexOf(draft);
  if (here === -1) return undefined;
  if (key === 'ArrowUp') return past[here - 1];
  if (key === 'ArrowDown' && here < past.length) return past[here + 1] ?? '';
  return undefined;
}
