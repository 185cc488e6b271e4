import { colorName, hex } from './color';
import type { Difference } from './differences';
import { sideOf } from './differences';
import type { Box, Color, Outline, PageText } from './outline';

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

export const placeOf = (box: Box, page: Pick<Outline, 'width'>): string => sideInWords[sideOf(box, page)];

/** Two colors of one name are told apart by their values. */
function colors({ draft, wanted }: { draft: Color; wanted: Color }): string {
  const [now, then] = [colorName(draft), colorName(wanted)];
  return now === then
    ? `${then} (${hex(wanted)}), not ${hex(draft)}`
    : `${then} (${hex(wanted)}), not ${now}`;
}

export const looks = ({ color, background, fontSize, bold }: PageText): string =>
  `${bold ? 'bold, ' : ''}${colorName(color)} on ${colorName(background)}, ${round(fontSize)} pixels`;

/** In full, because the agent has to write it. */
const missing = ({ role, text }: PageText): string => `a ${role} “${text}”`;

function named({ role, text }: PageText): string {
  const quoted = text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS).trim()}…` : text;
  return `the ${role} “${quoted}”`;
}

const below = (text: PageText | undefined): string =>
  text === undefined ? ' at the top' : ` below ${named(text)}`;

export const sizeOf = ({ width, height }: Box): string => `${round(width)} × ${round(height)} pixels`;

const round = (value: number): number => Math.round(value);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
