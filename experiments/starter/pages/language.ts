import {
  pagePieces,
  PAGE_DECISIONS,
  PAGE_OPTIONS,
  PAGE_TRADES,
  type PageValues,
} from '../../../src/core/task/starter/pages/world';
import type { Language } from '../language';

/**
 * What all pages have alike is one token with the value that follows it, so that a page has hardly more tokens than
 * values. A color is one token where it is told, too.
 */
export function pageLanguage(): Language {
  const pages = PAGE_TRADES.flatMap((trade) =>
    variants(trade.habits).map((values) => pagePieces(trade, values)),
  );
  const alike = new Set(pages[0]!.filter((piece) => pages.every((pieces) => pieces.includes(piece))));
  const colors = Object.values(PAGE_OPTIONS).flatMap((options) =>
    Object.values(options).flatMap(({ equals }) => (equals.startsWith('#') ? [` (${equals}).`] : [])),
  );
  const idioms = new Set([...pages.flatMap((pieces) => joined(pieces, alike)), ...colors]);
  return {
    openings: ['OUTPUT:\nI WANT TO ANSWER:\n', 'OUTPUT:\n'],
    idioms: [...idioms].toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1)),
  };
}

/** Pages that together have every value of every decision. */
const variants = (values: PageValues): readonly PageValues[] =>
  PAGE_DECISIONS.flatMap((decision) =>
    Object.keys(PAGE_OPTIONS[decision]).map((value) => ({ ...values, [decision]: value })),
  );

function joined(pieces: readonly string[], alike: ReadonlySet<string>): string[] {
  const stretches = [''];
  for (const piece of pieces) {
    stretches.push(`${stretches.pop()!}${piece}`);
    if (!alike.has(piece)) stretches.push('');
  }
  return stretches;
}
