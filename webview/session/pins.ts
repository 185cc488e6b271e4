import type { Pin } from '../pages/protocol';
import type { Draft } from './protocol';

/** A text that names its pins by their numbers: `[1] the heading “Welcome”: bigger`. */
type Pinned = Pick<Draft, 'text' | 'pins'>;

const nameOf = (number: number): string => `[${number}]`;

/** Leaves out the pins that the text does not name; the others are numbered anew, in the text as well. */
export function withoutUnnamed(text: string, pins: readonly Pin[]): Pinned {
  const kept = pins.flatMap((pin, index) =>
    text.includes(nameOf(index + 1)) ? [{ pin, before: index + 1 }] : [],
  );
  if (kept.length === 0) return { text };
  return {
    text: renumbered(text, new Map(kept.map(({ before }, index) => [before, index + 1]))),
    pins: kept.map(({ pin }) => pin),
  };
}

/**
 * Names a pin that is new in the text, at the caret; takes one that is gone out of it.
 * @param pins those of the draft with one more at the end, or one less
 */
export function withPins(
  { text, pins: before = [] }: Pinned,
  pins: readonly Pin[],
  caret: number,
): { readonly text: string; readonly caret: number } {
  const added = pins.length > before.length ? pins.at(-1) : undefined;
  if (added !== undefined) {
    const [start, end] = [text.slice(0, caret), text.slice(caret)];
    const gap = start === '' || /\s$/.test(start) ? '' : ' ';
    const name = `${gap}${nameOf(pins.length)} ${added.words}: `;
    return { text: start + name + end, caret: caret + name.length };
  }
  const gone = before.findIndex((pin, index) => pins[index] !== pin);
  const words = before[gone] === undefined ? '' : ` ${before[gone].words}:`;
  const without = text
    .replace(`${nameOf(gone + 1)}${words} `, '')
    .replace(`${nameOf(gone + 1)}${words}`, '')
    .replaceAll(nameOf(gone + 1), '');
  const numbers = new Map(before.map((_, index) => [index + 1, index < gone ? index + 1 : index]));
  const now = renumbered(without, numbers);
  return { text: now, caret: Math.min(caret, now.length) };
}

const renumbered = (text: string, numbers: ReadonlyMap<number, number>): string =>
  text.replace(/\[(\d{1,2})\]/g, (name, number: string) => {
    const now = numbers.get(Number(number));
    return now === undefined ? name : nameOf(now);
  });
