import type { Outline, PageText } from '../../../src/core/page/outline';

/** A text of an outline, black and 20 pixels tall. */
export const text = (words: string, y: number, other: Partial<PageText> = {}): PageText => ({
  ...{ role: 'text', text: words, color: [0, 0, 0], background: [255, 255, 255], fontSize: 16, bold: false },
  box: { x: 20, y, width: 9 * words.length, height: 20 },
  ...other,
});

/** A page as an outline: white, 1366 wide, as tall as its texts. */
export const page = (texts: readonly PageText[], other: Partial<Outline> = {}): Outline => ({
  ...{ width: 1366, height: 40 + Math.max(0, ...texts.map(({ box }) => box.y)), background: [255, 255, 255] },
  ...{ texts, pictures: [], fills: [] },
  ...other,
});
