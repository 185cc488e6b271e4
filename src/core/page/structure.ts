import { colorDistance, labDistance, labOf, type Lab } from './color';
import { areaOf, centerDistance, matchTexts, overlap, type TextMatch } from './matching';
import type { Box, Outline } from './outline';

/** How much of the score each part is; together 1. */
const WEIGHTS = { texts: 0.6, colors: 0.25, pictures: 0.1, height: 0.05 } as const;

/** A change of this weight in the score's version makes earlier figures incomparable. */
export const STRUCTURE_VERSION = 1;

const GRID = 32;
/** A distance in L*a*b* that counts as a wholly different color, of a cell of the grid and of a text. */
const FULL_CELL_DISTANCE = 50;
const FULL_TEXT_DISTANCE = 60;

/**
 * How alike two pages look, from their outlines, without a network: texts, their places, colors and sizes, the colors
 * of areas, pictures and the height. It does not see rounded corners, borders and shadows. Each score is from 0 to 1, for
 * pages that look the same.
 */
export function structureScore(draft: Outline, wanted: Outline) {
  const parts = {
    texts: textScore(draft, wanted),
    colors: colorScore(draft, wanted),
    pictures: pictureScore(draft.pictures, wanted.pictures),
    height: Math.min(draft.height, wanted.height) / Math.max(draft.height, wanted.height),
  };
  const weighted = Object.entries(WEIGHTS).map(
    ([part, weight]) => weight * parts[part as keyof typeof parts],
  );
  return { score: weighted.reduce((sum, value) => sum + value, 0), parts };
}

/** Matched area of both pages times the likeness of what matches; pages without text are alike in it. */
function textScore(draft: Outline, wanted: Outline): number {
  const total = [...draft.texts, ...wanted.texts].reduce((sum, text) => sum + areaOf(text.box), 0);
  if (total === 0) return 1;
  const { matches } = matchTexts(draft, wanted);
  return matches.reduce((sum, match) => {
    const share = (areaOf(match.draft.box) + areaOf(match.wanted.box)) / total;
    return sum + share * likenessOf(match, draft, wanted);
  }, 0);
}

function likenessOf({ draft, wanted, similarity }: TextMatch, page: Outline, wantedPage: Outline): number {
  const diagonal = Math.hypot(
    Math.max(page.width, wantedPage.width),
    Math.max(page.height, wantedPage.height),
  );
  const place = Math.max(0, 1 - (3 * centerDistance(draft.box, wanted.box)) / diagonal);
  const color = Math.max(0, 1 - colorDistance(draft.color, wanted.color) / FULL_TEXT_DISTANCE);
  const size = Math.min(draft.fontSize, wanted.fontSize) / Math.max(draft.fontSize, wanted.fontSize);
  return (similarity + place + color + size * (draft.bold === wanted.bold ? 1 : 0.9)) / 4;
}

/** Colors of 32 × 32 cells over the taller page. */
function colorScore(draft: Outline, wanted: Outline): number {
  const height = Math.max(draft.height, wanted.height);
  const [a, b] = [colorGrid(draft, height), colorGrid(wanted, height)];
  return (
    a.reduce((sum, cell, i) => sum + Math.max(0, 1 - labDistance(cell, b[i]!) / FULL_CELL_DISTANCE), 0) /
    a.length
  );
}

function colorGrid({ width, background, fills }: Outline, height: number): readonly Lab[] {
  const cells: Lab[] = Array.from({ length: GRID * GRID }, () => labOf(background));
  for (const { box, color } of fills) {
    const lab = labOf(color);
    const [left, right] = [firstCell(box.x, width), firstCell(box.x + box.width, width)];
    const [top, bottom] = [firstCell(box.y, height), firstCell(box.y + box.height, height)];
    for (let row = top; row < bottom; row++)
      cells.fill(lab, row * GRID + left, row * GRID + Math.max(left, right));
  }
  return cells;
}

/** The first cell whose middle is not before the position. */
const firstCell = (position: number, length: number): number =>
  Math.min(GRID, Math.max(0, Math.ceil((position / length) * GRID - 0.5)));

/** Overlap of each picture with its best partner, by area; 1 if neither page has one. */
function pictureScore(draft: readonly Box[], wanted: readonly Box[]): number {
  if (draft.length === 0 && wanted.length === 0) return 1;
  const best = (box: Box, others: readonly Box[]): number =>
    Math.max(
      0,
      ...others.map((other) => overlap(box, other) / (areaOf(box) + areaOf(other) - overlap(box, other))),
    );
  const all = [
    ...draft.map((box) => ({ area: areaOf(box), score: best(box, wanted) })),
    ...wanted.map((box) => ({ area: areaOf(box), score: best(box, draft) })),
  ];
  return (
    all.reduce((sum, { area, score }) => sum + area * score, 0) / all.reduce((sum, { area }) => sum + area, 0)
  );
}
