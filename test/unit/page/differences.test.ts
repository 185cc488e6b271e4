import { expect, test } from 'vitest';

import { differencesOf } from '../../../src/core/page/differences';
import { page, text } from './pages';

const kinds = (...pages: Parameters<typeof differencesOf>): string[] =>
  differencesOf(...pages).map(({ kind }) => kind);

const title = text('Green Garden Supplies', 20, { role: 'title', fontSize: 30 });
const about = text('Everything for your garden since 1950.', 80);
const contact = text('Contact us', 140, { role: 'link' });
const wanted = page([title, about, contact]);

test('finds none between equal pages', () => {
  expect(differencesOf(wanted, wanted)).toEqual([]);
});

test('names missing, extra and reworded texts, the missing one with what is above it', () => {
  const draft = page([
    title,
    text('Everything for your garden since 1960.', 80),
    text('Imprint and privacy', 140),
  ]);
  expect(differencesOf(draft, wanted)).toEqual([
    { kind: 'wording', draft: draft.texts[1], wanted: about },
    { kind: 'missing text', wanted: contact, below: about },
    { kind: 'extra text', draft: draft.texts[2] },
  ]);
});

test.each([
  ['text color', { color: [200, 0, 0] }],
  ['text size', { fontSize: 24 }],
  ['bold', { bold: true }],
  ['side', { box: { x: 1000, y: 80, width: 300, height: 20 } }],
] as const)('tells %s', (kind, change) => {
  expect(kinds(page([title, { ...about, ...change }, contact]), wanted)).toEqual([kind]);
});

test('does not speak of what a person would not see', () => {
  const nearly = { ...about, color: [8, 8, 8], fontSize: 17, box: { ...about.box, x: 40 } } as const;
  expect(kinds(page([title, nearly, contact]), wanted)).toEqual([]);
});

test('names an area once for all texts in it', () => {
  const green = [title, contact].map((one) => ({ ...one, background: [0, 120, 60] as const }));
  const [difference, ...others] = differencesOf(wanted, page([green[0]!, about, green[1]!]));
  expect(others).toEqual([]);
  expect(difference).toMatchObject({
    kind: 'area color',
    texts: green,
    draft: [255, 255, 255],
    wanted: [0, 120, 60],
  });
});

test('names the background of the page, and no area of it', () => {
  const gray = [200, 200, 200] as const;
  const draft = page(
    wanted.texts.map((one) => ({ ...one, background: gray })),
    { background: gray },
  );
  expect(differencesOf(draft, wanted)).toEqual([
    { kind: 'page background', draft: gray, wanted: [255, 255, 255] },
  ]);
});

test('says which of two texts belongs above the other', () => {
  const draft = page([
    title,
    { ...contact, box: { ...contact.box, y: 80 } },
    { ...about, box: { ...about.box, y: 140 } },
  ]);
  expect(differencesOf(draft, wanted)).toEqual([{ kind: 'order', wanted: about, above: contact }]);
});

test('pairs equal texts by their places', () => {
  const buttons = [100, 500, 900].map((x) =>
    text('Buy', 60, { role: 'button', box: { x, y: 60, width: 40, height: 20 } }),
  );
  const red = buttons.map((one, i) => (i === 1 ? { ...one, color: [200, 0, 0] as const } : one));
  expect(differencesOf(page(red), page(buttons))).toEqual([
    { kind: 'text color', draft: red[1], wanted: buttons[1] },
  ]);
});

test('tells missing, extra and resized pictures', () => {
  const picture = { x: 20, y: 200, width: 300, height: 200 };
  const [none, one] = [page(wanted.texts), page(wanted.texts, { pictures: [picture] })];
  expect(differencesOf(none, one)).toEqual([{ kind: 'missing picture', wanted: picture, below: contact }]);
  expect(differencesOf(one, none)).toEqual([{ kind: 'extra picture', draft: picture, below: contact }]);
  const wide = { ...picture, width: 600 };
  expect(differencesOf(page(wanted.texts, { pictures: [wide] }), one)).toEqual([
    { kind: 'picture size', draft: wide, wanted: picture },
  ]);
});
