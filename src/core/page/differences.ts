import { colorDistance, type Color } from './color';
import { areaOf, matchTexts, overlap, type TextMatch } from './matching';
import type { Box, Outline, PageText } from './outline';

export type Side = 'left' | 'center' | 'right';

/** One way in which a draft departs from the wanted page, as a person would name it. */
export type Difference =
  | { readonly kind: 'page background'; readonly draft: Color; readonly wanted: Color }
  | { readonly kind: 'missing text'; readonly wanted: PageText; readonly below: PageText | undefined }
  | { readonly kind: 'extra text'; readonly draft: PageText }
  | {
      readonly kind: 'wording' | 'text color' | 'text size' | 'bold';
      readonly draft: PageText;
      readonly wanted: PageText;
    }
  /** The area behind these texts has another color. */
  | {
      readonly kind: 'area color';
      readonly texts: readonly PageText[];
      readonly draft: Color;
      readonly wanted: Color;
    }
  | { readonly kind: 'side'; readonly draft: PageText; readonly wanted: PageText; readonly side: Side }
  /** The text stands below the other, and should stand above it. */
  | { readonly kind: 'order'; readonly wanted: PageText; readonly above: PageText }
  | { readonly kind: 'missing picture'; readonly wanted: Box; readonly below: PageText | undefined }
  | { readonly kind: 'extra picture'; readonly draft: Box; readonly below: PageText | undefined }
  | { readonly kind: 'picture size'; readonly draft: Box; readonly wanted: Box };

/** Distances in L*a*b* from which a person would speak of another color, and sizes of another size. */
const OTHER_COLOR = 12;
const OTHER_SIZE = 1.15;
const OTHER_PICTURE_SIZE = 1.1;

/** @param weight area in which a person sees it, in square CSS pixels */
type Add = (difference: Difference, weight: number) => void;

/** Differences of a draft, the one that is seen first before the others. Each is true of the two outlines. */
export function differencesOf(draft: Outline, wanted: Outline): readonly Difference[] {
  const weighed: { readonly difference: Difference; readonly weight: number }[] = [];
  const add: Add = (difference, weight) => void weighed.push({ difference, weight });
  const { matches, missing, extra } = matchTexts(draft, wanted);
  const [background, wantedBackground] = [draft.background, wanted.background];
  if (colorDistance(background, wantedBackground) >= OTHER_COLOR)
    add(
      { kind: 'page background', draft: background, wanted: wantedBackground },
      wanted.width * wanted.height,
    );
  for (const text of missing)
    add({ kind: 'missing text', wanted: text, below: textAbove(text.box, wanted) }, 2 * areaOf(text.box));
  for (const text of extra) add({ kind: 'extra text', draft: text }, areaOf(text.box));
  for (const match of matches) addOfText(match, draft, wanted, add);
  addAreas(matches, draft, wanted, add);
  addOrder(matches, add);
  addPictures(draft, wanted, add);
  return weighed.sort((a, b) => b.weight - a.weight).map(({ difference }) => difference);
}

function addOfText(
  { draft, wanted, similarity }: TextMatch,
  page: Outline,
  wantedPage: Outline,
  add: Add,
): void {
  const area = areaOf(wanted.box);
  if (similarity < 1) add({ kind: 'wording', draft, wanted }, area * (1.5 * (1 - similarity) + 0.5));
  if (colorDistance(draft.color, wanted.color) >= OTHER_COLOR)
    add({ kind: 'text color', draft, wanted }, area);
  const ratio = wanted.fontSize / draft.fontSize;
  if (ratio >= OTHER_SIZE || ratio <= 1 / OTHER_SIZE)
    add({ kind: 'text size', draft, wanted }, area * (Math.abs(Math.log(ratio)) + 0.5));
  else if (draft.bold !== wanted.bold) add({ kind: 'bold', draft, wanted }, area * 0.4);
  const side = sideOf(wanted.box, wantedPage);
  if (side !== sideOf(draft.box, page)) add({ kind: 'side', draft, wanted, side }, area);
}

/** Where the middle of a box is; a text over most of the width is in the center. */
export function sideOf({ x, width }: Box, page: Pick<Outline, 'width'>): Side {
  const middle = (x + width / 2) / page.width;
  return middle < 0.4 ? 'left' : middle > 0.6 ? 'right' : 'center';
}

/** Texts with the same change of the color behind them are named together: a bar with five links is one bar. */
function addAreas(matches: readonly TextMatch[], page: Outline, wantedPage: Outline, add: Add): void {
  const changed = matches.filter(
    ({ draft, wanted }) =>
      colorDistance(draft.background, wanted.background) >= OTHER_COLOR &&
      // Named as the page's background.
      !(same(draft.background, page.background) && same(wanted.background, wantedPage.background)),
  );
  const groups = Map.groupBy(
    changed,
    ({ draft, wanted }) => `${draft.background.join()} ${wanted.background.join()}`,
  );
  for (const group of groups.values()) {
    const [{ draft, wanted }] = group as [TextMatch];
    const texts = group.map((match) => match.wanted);
    const areas = texts.map((text) => areaOf(fillAround(text, wantedPage)));
    add(
      { kind: 'area color', texts, draft: draft.background, wanted: wanted.background },
      Math.max(...areas),
    );
  }
}

const same = (a: Color, b: Color): boolean => a.every((channel, i) => channel === b[i]);

function fillAround(text: PageText, { fills }: Outline): Box {
  return fills.findLast(({ box }) => overlap(box, text.box) >= 0.9 * areaOf(text.box))?.box ?? text.box;
}

/** Each pair of neighbors of the wanted page that stands the other way round in the draft. */
function addOrder(matches: readonly TextMatch[], add: Add): void {
  const ordered = matches.toSorted((a, b) => a.wanted.box.y - b.wanted.box.y);
  for (const [index, { draft, wanted }] of ordered.slice(1).entries()) {
    const upper = ordered[index]!;
    const isAbove = bottom(upper.wanted.box) <= wanted.box.y + 1;
    const isBelowNow = upper.draft.box.y >= bottom(draft.box) - 1;
    if (isAbove && isBelowNow)
      add(
        { kind: 'order', wanted: upper.wanted, above: wanted },
        areaOf(upper.wanted.box) + areaOf(wanted.box),
      );
  }
}

const bottom = ({ y, height }: Box): number => y + height;

function addPictures(draft: Outline, wanted: Outline, add: Add): void {
  const free = [...draft.pictures];
  for (const box of wanted.pictures) {
    const [nearest] = free.toSorted((a, b) => apart(a, box) - apart(b, box));
    if (nearest === undefined) {
      add({ kind: 'missing picture', wanted: box, below: textAbove(box, wanted) }, areaOf(box));
      continue;
    }
    free.splice(free.indexOf(nearest), 1);
    if (
      ratio(nearest.width, box.width) >= OTHER_PICTURE_SIZE ||
      ratio(nearest.height, box.height) >= OTHER_PICTURE_SIZE
    )
      add({ kind: 'picture size', draft: nearest, wanted: box }, Math.abs(areaOf(nearest) - areaOf(box)) / 2);
  }
  for (const box of free)
    add({ kind: 'extra picture', draft: box, below: textAbove(box, draft) }, areaOf(box));
}

const apart = (a: Box, b: Box): number =>
  Math.hypot(a.x - b.x, a.y - b.y, a.width - b.width, a.height - b.height);

const ratio = (a: number, b: number): number => Math.max(a, b) / Math.max(1, Math.min(a, b));

/** The lowest text above a box, by which a person says where something is. */
function textAbove(box: Box, { texts }: Outline): PageText | undefined {
  const above = texts.filter((text) => bottom(text.box) <= box.y + 1);
  return above.toSorted((a, b) => bottom(b.box) - bottom(a.box))[0];
}
