import { colorName, hex } from './color';
import { looks, placeOf, sizeOf } from './differenceWords';
import type { Box, Color, Outline, PageText } from './outline';

/** Limits of a description; the longest of 100 published pages has 40 texts. */
const MAX_TEXTS = 150;
const MAX_AREAS = 60;
const MAX_PICTURES = 60;
const MAX_TEXT_CHARS = 300;

/** A page in words, for a reader that sees no pictures; every claim is true of the outline. */
export function outlineInWords(outline: Outline): string {
  const { width, height, background, texts, pictures, fills } = outline;
  const placed = (box: Box): string =>
    `${placeOf(box, outline)}, ${Math.round(box.x)} pixels from the left edge and ${Math.round(box.y)} from the top, ${sizeOf(box)}`;
  const text = (one: PageText): string =>
    `${one.role} “${cut(one.text)}” ${placed(one.box)}: ${looks(one)}, text ${hex(one.color)}`;
  const fill = ({ box, color }: Outline['fills'][number]): string => `${colored(color)}, ${placed(box)}`;
  return [
    `${Math.round(width)} pixels wide and ${Math.round(height)} high, ${colored(background)} behind everything.`,
    ...list('Texts', texts, MAX_TEXTS, text),
    ...list('Pictures', pictures, MAX_PICTURES, placed),
    ...list('Colored areas, the lowest first', fills, MAX_AREAS, fill),
  ].join('\n');
}

function list<T>(title: string, all: readonly T[], most: number, inWords: (one: T) => string): string[] {
  if (all.length === 0) return [`${title}: none.`];
  const lines = all.slice(0, most).map((one) => `- ${inWords(one)}`);
  return [`${title}:`, ...lines, ...(all.length > most ? [`- and ${all.length - most} more`] : [])];
}

const cut = (text: string): string =>
  text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS).trim()}…` : text;

const colored = (color: Color): string => `${colorName(color)} (${hex(color)})`;
