import { expect, it } from 'vitest';
import { measurePageLeak } from '../../../src/core/dialogue/leak';

const heading = '<h1 class="text-3xl font-bold">Golden Crust</h1>';
const page = `<html><head><link href="https://x/tailwind.min.css" rel="stylesheet"></head><body>${heading}<p class="p-4">Fresh bread</p></body></html>`;

it('counts the tags, classes and words that a reply gives as HTML', () => {
  // Of the heading's 12 tokens and the paragraph's 11.
  expect(measurePageLeak(page, `Use ${heading} there.`)).toEqual({ fraction: 12 / 23, leaked: true });
  expect(measurePageLeak(page, page)).toEqual({ fraction: 1, leaked: true });
});

it('does not count words in plain sentences, and what every page has', () => {
  for (const reply of [
    'The heading should say “Golden Crust” and be bold; below it, “Fresh bread”.',
    'Begin with <html><head><link href="https://x/tailwind.min.css" rel="stylesheet"></head><body>.',
    'Is 3 < 4 and class = bold?',
  ])
    expect(measurePageLeak(page, reply)).toEqual({ fraction: 0, leaked: false });
});
