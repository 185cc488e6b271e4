import { expect, test } from 'vitest';

import { structureScore } from '../../../src/core/page/structure';
import { page, text } from './pages';

const texts = [
  text('Green Garden Supplies', 20, { role: 'title', fontSize: 30 }),
  text('Everything for your garden since 1950.', 80),
  text('Contact us', 140, { role: 'link' }),
];
const bar = { box: { x: 0, y: 0, width: 1366, height: 60 }, color: [0, 120, 60] } as const;
const picture = { x: 20, y: 200, width: 300, height: 200 };
const wanted = page(texts, { height: 420, fills: [bar], pictures: [picture] });
const score = (draft: Parameters<typeof structureScore>[0]): number => structureScore(draft, wanted).score;

test('is 1 for the same page, and falls with every change', () => {
  expect(score(wanted)).toBeCloseTo(1, 12);
  const one = score({ ...wanted, texts: [texts[0]!, { ...texts[1]!, color: [200, 0, 0] }, texts[2]!] });
  const two = score({ ...wanted, texts: [texts[0]!, { ...texts[1]!, color: [200, 0, 0] }] });
  expect(one).toBeLessThan(1);
  expect(two).toBeLessThan(one);
  expect(score(page([], { height: 682 }))).toBeLessThan(two);
});

test('has parts for texts, colors, pictures and the height', () => {
  const parts = (draft: Parameters<typeof structureScore>[0]): object => structureScore(draft, wanted).parts;
  expect(parts({ ...wanted, texts: [] })).toMatchObject({ texts: 0, colors: 1, pictures: 1, height: 1 });
  expect(parts({ ...wanted, pictures: [] })).toMatchObject({ texts: 1, colors: 1, pictures: 0, height: 1 });
  // A third of the picture's union with one twice as wide and half as far apart.
  expect(parts({ ...wanted, pictures: [{ ...picture, width: 600 }] })).toMatchObject({ pictures: 0.5 });
  expect(parts({ ...wanted, height: 210 })).toMatchObject({ height: 0.5 });
});

test('weighs the color of an area by its part of the page', () => {
  const { parts } = structureScore({ ...wanted, fills: [] }, wanted);
  // The bar covers 5 of 32 rows, whose color is wholly another one.
  expect(parts.colors).toBeCloseTo(1 - 5 / 32, 12);
});

test('is symmetric', () => {
  const other = page([texts[1]!], { height: 300 });
  expect(structureScore(other, wanted).score).toBeCloseTo(structureScore(wanted, other).score, 12);
});
