import { t } from '../language';

/** What a person calls a part of a page. */
export type Role =
  'title' | 'heading' | 'text' | 'link' | 'button' | 'list item' | 'label' | 'field' | 'picture';

/** A point of a page in fractions of its width and height. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** A part of a page that can be pointed at; its box is in fractions of the page's width and height. */
export interface Part extends Place {
  readonly role: Role;
  readonly text: string;
  readonly width: number;
  readonly height: number;
  /** Where a pin points: the end of the first line of its own text, else the middle. */
  readonly point: Place;
}

/** A person scrolls no longer list, and each part costs a layout. */
const MAX_PARTS = 300;
const MAX_WORDS = 6;
const MAX_CHARS = 40;

const ROLES: readonly (readonly [Role, string])[] = [
  ['picture', 'img, svg, video, iframe, canvas'],
  ['field', 'input, textarea, select'],
  ['button', 'button'],
  ['link', 'a'],
  ['title', 'h1'],
  ['heading', 'h2, h3, h4, h5, h6'],
  ['label', 'label'],
  ['list item', 'li'],
];

/** The parts of a page with words or a picture, in the order of its source. */
export function partsOf(page: Document, width: number, height: number): Part[] {
  const parts: Part[] = [];
  for (const element of page.body.querySelectorAll('*')) {
    if (parts.length === MAX_PARTS) break;
    const part = partOf(element);
    const box = element.getBoundingClientRect();
    if (part === undefined || box.width < 2 || box.height < 2) continue;
    if (page.defaultView?.getComputedStyle(element).visibility === 'hidden') continue;
    const line = firstLine(element);
    const [x, y] =
      line === undefined
        ? [box.x + box.width / 2, box.y + box.height / 2]
        : [line.right - 1, line.y + line.height / 2];
    parts.push({
      ...part,
      ...{ x: box.x / width, y: box.y / height, width: box.width / width, height: box.height / height },
      point: { x: x / width, y: y / height },
    });
  }
  return parts;
}

const isWords = ({ nodeType, nodeValue }: Node): boolean =>
  nodeType === Node.TEXT_NODE && nodeValue?.trim() !== '';

/** A block is often much wider than its text. */
function firstLine(element: Element): DOMRect | undefined {
  const words = [...element.childNodes].find(isWords);
  if (words === undefined) return undefined;
  const range = element.ownerDocument.createRange();
  range.selectNodeContents(words);
  return [...range.getClientRects()].find(({ width }) => width > 1);
}

function partOf(element: Element): Pick<Part, 'role' | 'text'> | undefined {
  // What is inside a picture is no part of its own.
  if (element.parentElement?.closest('svg, select') != null) return undefined;
  const own = ROLES.find(([, tags]) => element.matches(tags))?.[0];
  if (own === 'picture') return { role: own, text: element.getAttribute('alt') ?? '' };
  if (own === 'field') {
    const words = [element.getAttribute('value'), element.getAttribute('placeholder')];
    return { role: own, text: words.find((text) => text !== null && text !== '') ?? '' };
  }
  if (![...element.childNodes].some(isWords)) return undefined;
  const role = own ?? ROLES.find(([, tags]) => element.closest(tags) !== null)?.[0] ?? 'text';
  return { role, text: element.textContent.replace(/\s+/g, ' ').trim() };
}

/** Says where a point of a page is. @param x, y fractions of the page */
export function placeWords({ x, y }: Place, parts: readonly Part[]): string {
  const around = parts
    .filter((part) => x >= part.x && x <= part.x + part.width && y >= part.y && y <= part.y + part.height)
    .sort((a, b) => a.width * a.height - b.width * b.height);
  if (around[0] !== undefined) return partWords(around[0]);
  const nearest = parts.map((part) => ({ part, ...away({ x, y }, part) })).sort((a, b) => a.far - b.far)[0];
  if (nearest === undefined) return t('the empty page, {0}', regionWords(x, y));
  const { part, dx, dy } = nearest;
  const of = partWords(part);
  if (Math.abs(dx) > Math.abs(dy)) return dx < 0 ? t('left of {0}', of) : t('right of {0}', of);
  return dy < 0 ? t('above {0}', of) : t('below {0}', of);
}

/** Distances from a part's box to a point outside of it; below 0 to the left or above. */
function away(
  { x, y }: Place,
  part: Part,
): { readonly dx: number; readonly dy: number; readonly far: number } {
  const dx = x < part.x ? x - part.x : Math.max(0, x - part.x - part.width);
  const dy = y < part.y ? y - part.y : Math.max(0, y - part.y - part.height);
  return { dx, dy, far: Math.hypot(dx, dy) };
}

export function partWords(part: Part): string {
  const text = firstWords(part.text);
  if (part.role === 'picture' || text === '') return unnamed(part);
  return {
    title: t('the title “{0}”', text),
    heading: t('the heading “{0}”', text),
    text: t('the text “{0}”', text),
    link: t('the link “{0}”', text),
    button: t('the button “{0}”', text),
    'list item': t('the list item “{0}”', text),
    label: t('the label “{0}”', text),
    field: t('the field “{0}”', text),
  }[part.role];
}

function unnamed(part: Part): string {
  const region = regionWords(part.x + part.width / 2, part.y + part.height / 2);
  return part.role === 'picture' ? t('the picture {0}', region) : t('the field {0}', region);
}

function firstWords(text: string): string {
  const words = text.split(' ');
  const first = words.slice(0, MAX_WORDS).join(' ').slice(0, MAX_CHARS).trimEnd();
  return first.length < text.length ? `${first}…` : first;
}

const third = (fraction: number): 0 | 1 | 2 => (fraction < 1 / 3 ? 0 : fraction <= 2 / 3 ? 1 : 2);

const regionWords = (x: number, y: number): string =>
  [
    [t('at the top left'), t('at the top'), t('at the top right')],
    [t('on the left'), t('in the middle'), t('on the right')],
    [t('at the bottom left'), t('at the bottom'), t('at the bottom right')],
  ][third(y)]![third(x)]!;
