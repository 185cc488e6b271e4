import { wordsIn } from './text';

/** Quotas are for a month at most; what asks for more is a mistake and counts as absent. */
const MAX_ASKED_MS = 31 * 24 * 3600 * 1000;

/** The end of a window is no request to wait until then, so it never delays an attempt by more. */
const MAX_RESET_MS = 60_000;

/** Numbers above this are no durations but seconds since 1970, or milliseconds above its thousandfold. */
const MIN_UNIX_SECONDS = 1e9;

/**
 * In milliseconds. `Retry-After` is seconds or an HTTP date (RFC 9110, section 10.2.3); `retry-after-ms` is OpenAI's
 * finer variant; `x-ratelimit-reset` and its like tell when a used up limit is over. A date is compared with the
 * server's own clock if it sends one, so that a wrong local clock does no harm. Undefined for what is negative, no
 * time, or more than a month.
 */
export function askedWait(headers: Headers, localNow: number = Date.now()): number | undefined {
  const serverNow = Date.parse(headers.get('date') ?? '');
  const now = Number.isNaN(serverNow) ? localNow : serverNow;
  const asked =
    sane(amount(headers.get('retry-after-ms'))) ?? sane(timeIn(headers.get('retry-after') ?? '', now));
  if (asked !== undefined) return asked;
  const used = RESET_HEADERS.filter((reset) => isUsedUp(headers.get(reset.replace('reset', 'remaining'))));
  const resets = used.flatMap((reset) => sane(timeIn(headers.get(reset) ?? '', now)) ?? []);
  return resets.length === 0 ? undefined : Math.min(MAX_RESET_MS, Math.max(...resets));
}

/** Beside each there is one with `remaining` in place of `reset`. */
const RESET_HEADERS = wordsIn(`
  ratelimit-reset x-ratelimit-reset x-ratelimit-reset-requests x-ratelimit-reset-tokens
  anthropic-ratelimit-requests-reset anthropic-ratelimit-tokens-reset
`);

const isUsedUp = (remaining: string | null): boolean => remaining !== null && Number(remaining) <= 0;

const sane = (ms: number | undefined): number | undefined =>
  ms !== undefined && ms >= 0 && ms <= MAX_ASKED_MS ? ms : undefined;

/** Milliseconds until the time that a header names: seconds, a duration such as `6m0s`, a date, or a Unix time. */
function timeIn(text: string, now: number): number | undefined {
  const seconds = amount(text);
  if (seconds !== undefined) {
    if (seconds < MIN_UNIX_SECONDS) return seconds * 1000;
    return Math.max(0, (seconds < MIN_UNIX_SECONDS * 1000 ? seconds * 1000 : seconds) - now);
  }
  const duration = durationAt(text.trim(), 0);
  if (duration !== undefined) return duration;
  // `Date.parse` takes "-3" for a year, so a date has to begin like one.
  if (!/^\s*(?:[A-Za-z]{3,9},? |\d{4}-\d\d-\d\dT)/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function amount(text: string | null): number | undefined {
  if (text === null || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a duration such as `1m26.4s` or `20 seconds` that begins there. */
function durationAt(text: string, start: number): number | undefined {
  const part = /(\d{1,9}(?:\.\d{1,9})?) ?(ms|s|m|h|d)(?:ec(?:ond)?s?|in(?:ute)?s?|ours?|ays?)?(?![a-z]) ?/iy;
  part.lastIndex = start;
  let sum: number | undefined;
  for (let found = part.exec(text); found !== null; found = part.exec(text))
    sum = (sum ?? 0) + Number(found[1]) * UNITS[found[2]!.toLowerCase() as keyof typeof UNITS];
  return sum;
}

const MAX_WORDS_CHARS = 4000;

/** Milliseconds that an error names, as in "Please try again in 20s". */
export function waitIn(words: string): number | undefined {
  const text = words.slice(0, MAX_WORDS_CHARS);
  for (const { 0: match, index } of text.matchAll(
    /\b(?:again|retry|wait)\b[ :"]{0,4}(?:(?:in|after|for) )?/gi,
  )) {
    const wait = sane(durationAt(text, index + match.length));
    if (wait !== undefined) return wait;
  }
  return undefined;
}
