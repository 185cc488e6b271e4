import { html, type TemplateResult } from 'lit';
import { t } from '../language';
import { decimal } from '../language/numbers';
import type { EstimateView } from './protocol';

/** In percent, without the sign: `31.5`. */
export const percent = (value: number): string => decimal(100 * value, 1);

/** `31.5 % (26.1 to 37.4)` */
export function estimate(value: EstimateView): string {
  if (value === null) return '–';
  return t('{0} % ({1} to {2})', percent(value.mean), percent(value.low), percent(value.high));
}

/** In percentage points: `+13.7`, `−0.5` or `0.0`. */
export function signed(value: number): string {
  const points = percent(Math.abs(value));
  return points === percent(0) ? points : `${value < 0 ? '−' : '+'}${points}`;
}

/** Splits a text around its bracketed interval, so that lines break only there. */
export const inParts = (text: string): TemplateResult[] =>
  text
    .split(/ (?=\()|(?<=\),) /)
    .map((part, at) => html`${at === 0 ? '' : ' '}<span class="whole">${part}</span>`);
