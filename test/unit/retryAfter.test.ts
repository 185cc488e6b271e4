import { expect, test } from 'vitest';
import { askedWait, waitIn } from '../../src/core/retryAfter';

const now = Date.parse('2026-11-20T12:00:00Z');

test.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  [{ 'retry-after': 'Fri, 20 Nov 2026 12:00:09 GMT' }, 9000],
  [{ 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'Fri, 20 Nov 2026 15:00:09 GMT', date: 'Fri, 20 Nov 2026 15:00:04 GMT' }, 5000],
  [{ 'retry-after': 'Fri, 20 Nov 9999 12:00:00 GMT' }, undefined],
  [{ 'retry-after': '2026-11-20T12:00:09Z' }, 9000],
  [{ 'retry-after': String(now / 1000 + 5) }, 5000],
  [{ 'retry-after': '3600' }, 3_600_000],
  [{ 'retry-after': '99999999999999999999' }, undefined],
  [{ 'retry-after': '-3' }, undefined],
  [{ 'retry-after': 'NaN' }, undefined],
  [{ 'retry-after': '1e400' }, undefined],
  [{ 'retry-after': '1m26.4s' }, 86_400],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after-ms': '-250', 'retry-after': '7' }, 7000],
  [{ 'retry-after-ms': '1e30' }, undefined],
  [{ 'x-ratelimit-reset': '20', 'x-ratelimit-remaining': '0' }, 20_000],
  [{ 'x-ratelimit-reset': String(now + 5000), 'x-ratelimit-remaining': '0' }, 5000],
  [{ 'x-ratelimit-reset-requests': '1.5s', 'x-ratelimit-remaining-requests': '0' }, 1500],
  [{ 'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-remaining-tokens': '0' }, 60_000],
  [{ 'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-remaining-tokens': '90000' }, undefined],
  [{ 'x-ratelimit-reset': '-20', 'x-ratelimit-remaining': '0' }, undefined],
  [{}, undefined],
])('the headers %o ask for a wait of %s milliseconds', (headers, wait) => {
  expect(askedWait(new Headers(headers as Record<string, string>), now)).toBe(wait);
});

test.each([
  ['Rate limit reached. Please try again in 20s. Visit our site.', 20_000],
  ['Please try again in 1m26.4s.', 86_400],
  ['Please retry in 34.074824224s.', 34_074.824224],
  ['Try again in 250ms', 250],
  ['Please retry after 5 seconds.', 5000],
  ['Please wait 2 minutes and try again', 120_000],
  ['Try again in 1999 years', undefined],
  ['Limit 20, used 20, try again later', undefined],
])('the words "%s" ask for a wait of %s milliseconds', (words, wait) => {
  const asked = waitIn(words);
  if (wait === undefined) expect(asked).toBeUndefined();
  else expect(asked).toBeCloseTo(wait, 5);
});
