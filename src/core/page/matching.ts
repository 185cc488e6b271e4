import type { Box, Outline, PageText } from './outline';

export interface TextMatch {
  readonly draft: PageText;
  readonly wanted: PageText;
  /** 1 for the same text. */
  readonly similarity: number;
}

/** Texts less alike than this are different texts. */
const MIN_SIMILARITY = 0.5;

/**
 * Pairs the texts of a draft with those of the wanted page, the most similar first; of equal ones, such as four buttons
 * with one word, those that are nearest to each other.
 */
export function matchTexts(draft: Outline, wanted: Outline) {
  const [left, right] = [draft.texts.map(bigramsOf), wanted.texts.map(bigramsOf)];
  const pairs = draft.texts.flatMap((_, i) =>
    wanted.texts.flatMap((__, j) => {
      const similarity = likeness(left[i]!, right[j]!);
      if (similarity < MIN_SIMILARITY) return [];
      return [{ i, j, similarity, distance: centerDistance(draft.texts[i]!.box, wanted.texts[j]!.box) }];
    }),
  );
  pairs.sort((a, b) => b.similarity - a.similarity || a.distance - b.distance);
  const [usedDraft, usedWanted] = [new Set<number>(), new Set<number>()];
  const matches: TextMatch[] = [];
  for (const { i, j, similarity } of pairs) {
    if (usedDraft.has(i) || usedWanted.has(j)) continue;
    usedDraft.add(i);
    usedWanted.add(j);
    matches.push({ draft: draft.texts[i]!, wanted: wanted.texts[j]!, similarity });
  }
  return {
    matches,
    missing: wanted.texts.filter((_, j) => !usedWanted.has(j)),
    extra: draft.texts.filter((_, i) => !usedDraft.has(i)),
  };
}

export const areaOf = ({ width, height }: Box): number => width * height;

export function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

export function centerDistance(a: Box, b: Box): number {
  return Math.hypot(a.x + a.width / 2 - b.x - b.width / 2, a.y + a.height / 2 - b.y - b.height / 2);
}

/** Bigrams of the characters with their counts; a text of one character is its own. */
function bigramsOf({ text }: PageText): ReadonlyMap<string, number> {
  const plain = text.toLowerCase();
  const grams =
    plain.length < 2 ? [plain] : Array.from({ length: plain.length - 1 }, (_, i) => plain.slice(i, i + 2));
  const counts = new Map<string, number>();
  for (const gram of grams) counts.set(gram, (counts.get(gram) ?? 0) + 1);
  return counts;
}

/** Dice coefficient. */
function likeness(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  const total = (counts: ReadonlyMap<string, number>): number =>
    [...counts.values()].reduce((sum, n) => sum + n, 0);
  let shared = 0;
  for (const [gram, count] of a) shared += Math.min(count, b.get(gram) ?? 0);
  return (2 * shared) / (total(a) + total(b));
}
