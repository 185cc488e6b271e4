/** Times are in milliseconds. */
export interface RetrySettings {
  /** Includes the first request. */
  readonly attempts: number;
  /** The first wait; each later one is twice as long. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  /** If a server asks for more, the request fails at once. */
  readonly longestServerWaitMs: number;
}

export const defaultRetry: RetrySettings = {
  attempts: 5,
  firstWaitMs: 500,
  longestWaitMs: 30_000,
  longestServerWaitMs: 120_000,
};

/**
 * Milliseconds after failed attempt number `attempt`, from 1. Random, so that requests that failed together do not
 * return together. Never shorter than the server asked for, nor than without its word: some say 0 every time.
 */
export function waitBefore(
  attempt: number,
  settings: RetrySettings,
  serverWaitMs = 0,
  random: () => number = Math.random,
): number {
  const step = Math.min(settings.longestWaitMs, settings.firstWaitMs * 2 ** (attempt - 1));
  const drawn = random();
  const asked = serverWaitMs + drawn * Math.min(step, settings.firstWaitMs);
  return Math.max(asked, step * (0.5 + drawn / 2));
}
