import { decimal } from '../language/numbers';
import type { TurnCredit } from './protocol';

/** How the figures of a critic are drawn and said; pure, so that it can be tested without a page. */

/** With a real minus sign, a sign always, and digits that tell the smaller bars of the scale apart. */
export function signed(value: number, scale = Math.abs(value)): string {
  const digits = digitsFor(scale);
  const rounded = Number(value.toFixed(digits));
  const sign = rounded > 0 ? '+' : rounded < 0 ? '−' : '±';
  return `${sign}${decimal(Math.abs(rounded), digits)}`;
}

export function digitsFor(scale: number): number {
  if (scale >= 10) return 1;
  if (scale >= 1) return 2;
  return scale >= 0.1 ? 3 : 4;
}

/** Where a value stands on a track whose middle is 0, in percent from its left end. */
export function place(value: number, scale: number): number {
  if (scale === 0) return 50;
  return 50 + 50 * Math.max(-1, Math.min(1, value / scale));
}

/** The stretch of the track that a bar fills. */
export function fill(value: number, scale: number): { readonly left: number; readonly width: number } {
  const end = place(value, scale);
  return { left: Math.min(50, end), width: Math.abs(end - 50) };
}

/** A piece of a turn as it was sampled. */
export interface Token {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  readonly ratio: number;
}

export function tokensOf({ texts, ratios }: NonNullable<TurnCredit['tokens']>): Token[] {
  return texts.map((text, index) => ({ number: index + 1, text, ratio: ratios[index]! }));
}

/** Above this level nothing gets darker, so that its text can still be read. */
export const DARKEST = 4;

/** How dark a token is drawn: 0, which is not at all, up to `DARKEST` at the end of the scale. */
export const shade = (ratio: number, scale: number): number =>
  scale === 0 ? 0 : Math.min(DARKEST, Math.round((DARKEST * Math.abs(ratio)) / scale));

/** Those that say most, from the one furthest from 0. */
export const furthest = (tokens: readonly Token[], most: number): Token[] =>
  tokens
    .filter(({ ratio }) => ratio !== 0)
    .sort((a, b) => Math.abs(b.ratio) - Math.abs(a.ratio))
    .slice(0, most);

/** One for all turns of the dialogues that are shown. */
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
