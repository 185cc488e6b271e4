/** Times are in milliseconds. */
export interface RetrySettings {
  /** Includes the first request. */
  readonly attempts: number;
  /** The first wait; each later one is twice as long. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  /** If a server asks for more with `Retry-After`, the request fails at once. */
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
 * return together. Never shorter than the server asked for.
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
 * In milliseconds. `Retry-After` is seconds or an HTTP date (RFC 9110, section 10.2.3); `retry-after-ms` is OpenAI's
 * finer variant. A date is compared with the server's own clock if it sends one, so that a wrong local clock does no
 * harm.
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
