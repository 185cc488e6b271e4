import { expect, test } from 'vitest';

import { differencesOf } from '../../../src/core/page/differences';
import { differenceInWords } from '../../../src/core/page/outlineWords';
import { page, text } from './pages';

const title = text('Green Garden Supplies', 20, { role: 'title', fontSize: 30, bold: true });
const about = text('Everything for your garden since 1950, from seeds to sheds and back again.', 80);
const wanted = page([title, about]);

const words = (...texts: Parameters<typeof page>): string[] => {
  const differences = differencesOf(page(...texts), wanted);
  return differences.map((difference) => differenceInWords(difference, wanted));
};

test('asks for a missing text in full, with its place and its looks', () => {
  expect(words([title])).toEqual([
    'There should be a text “Everything for your garden since 1950, from seeds to sheds and back again.” below the title ' +
      '“Green Garden Supplies”, on the left: black on white, 16 pixels.',
  ]);
});

test.each([
  [{ color: [239, 68, 68] }, 'The title “Green Garden Supplies” should be black (#000000), not red.'],
  [{ fontSize: 20 }, 'The title “Green Garden Supplies” should be bigger: 30 pixels, not 20.'],
  [{ bold: false }, 'The title “Green Garden Supplies” should be bold.'],
  [{ text: 'Green Garden Supply' }, 'The title “Green Garden Supply” should say “Green Garden Supplies”.'],
] as const)('asks to mend %j', (change, sentence) => {
  expect(words([{ ...title, ...change }, about])).toEqual([sentence]);
});

test('tells two colors of one name apart by their values', () => {
  expect(words([title, { ...about, color: [40, 48, 62] }])).toEqual([
    'The text “Everything for your garden since 1950, from seeds to sheds a…” should be black (#000000), not dark gray.',
  ]);
  expect(words(wanted.texts, { background: [205, 208, 214] })[0]).toMatch(
    /^The background of the page should be white/,
  );
});
