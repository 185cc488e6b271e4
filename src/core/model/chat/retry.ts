/** Settings for repeating a failed request. Times are in milliseconds. */
export interface RetrySettings {
  /** Maximum number of requests for one answer, the first one included. */
  readonly attempts: number;
  /** The first wait; each later one is twice as long. */
  readonly firstWaitMs: number;
  /** Maximum wait that Tandem chooses itself. */
  readonly longestWaitMs: number;
  /** Maximum wait that a server may ask for with `Retry-After`; if it asks for more, the request fails at once. */
  readonly longestServerWaitMs: number;
}

export const defaultRetry: RetrySettings = {
  attempts: 5,
  firstWaitMs: 500,
  longestWaitMs: 30_000,
  longestServerWaitMs: 120_000,
};

/**
 * Returns the milliseconds to wait after failed attempt number `attempt`, from 1. The wait is random, so that requests
 * that failed together do not return together. A wait that the server asked for is never shortened.
 */
export function waitBefore(
  attempt: number,
  settings: RetrySettings,
  serverWaitMs: number | undefined,
  random: () => number = Math.random,
): number {
  const step = Math.min(settings.longestWaitMs, settings.firstWaitMs * 2 ** (attempt - 1));
  if (serverWaitMs !== undefined) return serverWaitMs + random() * Math.min(step, settings.firstWaitMs);
  return step * (0.5 + random() / 2);
}

/**
 * Returns the wait in milliseconds that a response asks for; undefined if it asks for none. `Retry-After` is seconds or
 * an HTTP date (RFC 9110, section 10.2.3); `retry-after-ms` is OpenAI's finer variant. A date is compared with the
 * server's own clock if it sends one, so that a wrong local clock does no harm.
 */
export function askedWait(headers: Headers, now: number = Date.now()): number | undefined {
  const milliseconds = amount(headers.get('retry-after-ms'));
  if (milliseconds !== undefined) return milliseconds;
  const text = headers.get('retry-after');
  const seconds = amount(text);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(text ?? '');
  if (Number.isNaN(date)) return undefined;
  const serverNow = Date.parse(headers.get('date') ?? '');
  return Math.max(0, date - (Number.isNaN(serverNow) ? now : serverNow));
}

function amount(text: string | null): number | undefined {
  if (text === null || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}
