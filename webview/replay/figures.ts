import { decimal } from '../language';
import type { TurnCredit } from './protocol';

/** Always with a sign, with a real minus, and with enough digits to tell the smaller bars of the scale apart. */
export function signed(value: number, scale = Math.abs(value)): string {
  const digits = digitsFor(scale);
  const rounded = Number(value.toFixed(digits));
  const sign = rounded > 0 ? '+' : rounded < 0 ? '−' : '±';
  return `${sign}${decimal(Math.abs(rounded), digits)}`;
}

function digitsFor(scale: number): number {
  if (scale >= 10) return 1;
  if (scale >= 1) return 2;
  return scale >= 0.1 ? 3 : 4;
}

/** In percent from the left end of a track with 0 in its middle. */
export function place(value: number, scale: number): number {
  if (scale === 0) return 50;
  return 50 + 50 * Math.max(-1, Math.min(1, value / scale));
}

/** In percent of the track. */
export function fill(value: number, scale: number): { readonly left: number; readonly width: number } {
  const end = place(value, scale);
  return { left: Math.min(50, end), width: Math.abs(end - 50) };
}

export interface Token {
  /** Position in the turn, from 1. */
  readonly number: number;
  readonly text: string;
  /** Of the critic and its base model, in nats. */
  readonly ratio: number;
}

export function tokensOf({ texts, ratios }: NonNullable<TurnCredit['tokens']>): Token[] {
  return texts.map((text, index) => ({ number: index + 1, text, ratio: ratios[index]! }));
}

/** The text of a darker token could not be read. */
export const DARKEST = 4;

/** From 0 (none) to `DARKEST` at the end of the scale. */
export const shade = (ratio: number, scale: number): number =>
  scale === 0 ? 0 : Math.min(DARKEST, Math.round((DARKEST * Math.abs(ratio)) / scale));

/** Largest absolute ratios first; a ratio of 0 never counts. */
export const furthest = (tokens: readonly Token[], most: number): Token[] =>
  tokens
    .filter(({ ratio }) => ratio !== 0)
    .sort((a, b) => Math.abs(b.ratio) - Math.abs(a.ratio))
    .slice(0, most);

/** One scale for all turns of the shown dialogues. */
export const tokenScale = (credits: readonly (readonly TurnCredit[] | null)[]): number =>
  credits.reduce(
    (most, turns) =>
      (turns ?? []).reduce(
        (larger, { tokens }) =>
          (tokens?.ratios ?? []).reduce((one, ratio) => Math.max(one, Math.abs(ratio)), larger),
        most,
      ),
    0,
  );
