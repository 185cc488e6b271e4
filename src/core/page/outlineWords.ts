import { colorName, hex, type Color } from './color';
import { sideOf, type Difference } from './differences';
import type { Box, Outline, PageText } from './outline';

/** Length to which a quoted text is cut, in characters. */
const MAX_QUOTED_CHARS = 60;

/** One difference as a person would ask for it to be mended; every claim is true of the two outlines. */
export function differenceInWords(difference: Difference, wanted: Pick<Outline, 'width'>): string {
  switch (difference.kind) {
    case 'page background':
      return `The background of the page should be ${colors(difference)}.`;
    case 'missing text':
      return `There should be ${missing(difference.wanted)}${below(difference.below)}, ${placeOf(difference.wanted.box, wanted)}: ${looks(difference.wanted)}.`;
    case 'extra text':
      return `${capital(named(difference.draft))} should not be there.`;
    case 'wording':
      return `${capital(named(difference.draft))} should say “${difference.wanted.text}”.`;
    case 'text color':
      return `${capital(named(difference.wanted))} should be ${colors({ draft: difference.draft.color, wanted: difference.wanted.color })}.`;
    case 'text size': {
      const { draft, wanted: text } = difference;
      const size = text.fontSize > draft.fontSize ? 'bigger' : 'smaller';
      return `${capital(named(text))} should be ${size}: ${round(text.fontSize)} pixels, not ${round(draft.fontSize)}.`;
    }
    case 'bold':
      return `${capital(named(difference.wanted))} should ${difference.wanted.bold ? '' : 'not '}be bold.`;
    case 'area color': {
      const [first, second] = difference.texts;
      const area = `The area behind ${named(first!)}${second ? ` and ${named(second)}` : ''}`;
      return `${area} should be ${colors(difference)}.`;
    }
    case 'side':
      return `${capital(named(difference.wanted))} should be ${sideInWords[difference.side]}.`;
    case 'order':
      return `${capital(named(difference.wanted))} should stand above ${named(difference.above)}.`;
    case 'missing picture':
      return `There should be a picture of ${sizeOf(difference.wanted)}${below(difference.below)}, ${placeOf(difference.wanted, wanted)}.`;
    case 'extra picture':
      return `The picture${below(difference.below)} should not be there.`;
    case 'picture size':
      return `The picture that is ${sizeOf(difference.draft)} should be ${sizeOf(difference.wanted)}.`;
  }
}

const sideInWords = { left: 'on the left', center: 'in the center', right: 'on the right' } as const;

const placeOf = (box: Box, page: Pick<Outline, 'width'>): string => sideInWords[sideOf(box, page)];

/** Two colors of one name are told apart by their values. */
function colors({ draft, wanted }: { draft: Color; wanted: Color }): string {
  const [now, then] = [colorName(draft), colorName(wanted)];
  return `${colored(wanted)}, not ${now === then ? hex(draft) : now}`;
}

const looks = ({ color, background, fontSize, bold }: PageText): string =>
  `${bold ? 'bold, ' : ''}${colorName(color)} on ${colorName(background)}, ${round(fontSize)} pixels`;

/** In full, because the agent has to write it. */
const missing = ({ role, text }: PageText): string => `a ${role} “${text}”`;

const named = ({ role, text }: PageText): string => `the ${role} “${cut(text, MAX_QUOTED_CHARS)}”`;

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).trim()}…` : text;

const below = (text: PageText | undefined): string =>
  text === undefined ? ' at the top' : ` below ${named(text)}`;

const sizeOf = ({ width, height }: Box): string => `${round(width)} × ${round(height)} pixels`;

const round = (value: number): number => Math.round(value);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Limits of a description; the longest of 100 published pages has 40 texts. */
const MAX_TEXTS = 150;
const MAX_AREAS = 60;
const MAX_PICTURES = 60;
const MAX_TEXT_CHARS = 300;

/** A page in words, for a reader that sees no pictures; every claim is true of the outline. */
export function outlineInWords(outline: Outline): string {
  const { width, height, background, texts, pictures, fills } = outline;
  const placed = (box: Box): string =>
    `${placeOf(box, outline)}, ${round(box.x)} pixels from the left edge and ${round(box.y)} from the top, ${sizeOf(box)}`;
  const text = (one: PageText): string =>
    `${one.role} “${cut(one.text, MAX_TEXT_CHARS)}” ${placed(one.box)}: ${looks(one)}, text ${hex(one.color)}`;
  const fill = ({ box, color }: Outline['fills'][number]): string => `${colored(color)}, ${placed(box)}`;
  return [
    `${round(width)} pixels wide and ${round(height)} high, ${colored(background)} behind everything.`,
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

const colored = (color: Color): string => `${colorName(color)} (${hex(color)})`;
