import path from 'node:path';
import { expect, it } from 'vitest';

interface Part {
  readonly role: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

// The import is dynamic, because views are another TypeScript program with browser types.
const { placeWords, partWords } = (await import(path.resolve('webview/pages/places.ts'))) as {
  placeWords: (point: { x: number; y: number }, parts: readonly Part[]) => string;
  partWords: (part: Part) => string;
};

const title = { role: 'title', text: 'Welcome', x: 0.1, y: 0.1, width: 0.5, height: 0.1 };
const picture = { role: 'picture', text: '', x: 0.4, y: 0.45, width: 0.2, height: 0.1 };
const button = { role: 'button', text: 'Buy', x: 0.45, y: 0.47, width: 0.05, height: 0.04 };

it.each([
  ['in a part', 0.2, 0.15, 'the title “Welcome”'],
  ['in the smaller of two parts', 0.46, 0.48, 'the button “Buy”'],
  ['beside a part', 0.2, 0.5, 'left of the picture in the middle'],
  ['beyond a part', 0.9, 0.5, 'right of the picture in the middle'],
  ['above all parts', 0.3, 0.02, 'above the title “Welcome”'],
  ['under all parts', 0.5, 0.95, 'below the picture in the middle'],
])('a place %s is said in words', (_, x, y, words) => {
  expect(placeWords({ x, y }, [title, picture, button])).toBe(words);
});

it('a place on an empty page is said by its region', () => {
  expect(placeWords({ x: 0.9, y: 0.9 }, [])).toBe('the empty page, at the bottom right');
});

it('long texts are cut to their first words', () => {
  const text = 'Fresh bread every morning, baked in our own stone oven';
  expect(partWords({ ...title, role: 'text', text })).toBe('the text “Fresh bread every morning, baked in…”');
  expect(partWords({ ...title, role: 'field', text: '' })).toBe('the field at the top');
});
