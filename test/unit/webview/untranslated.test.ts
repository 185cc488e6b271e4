import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { untranslated } from './untranslated';

/** Texts that are the same in every language, or only look like words. */
const ALLOWED: ReadonlySet<string> = new Set([
  // Names of keys, by the platform and as printed on keyboards.
  ...['Enter', 'Escape', 'Esc', 'Plus'],
  // Names of the two candidates, also used by the keys of the choice and in the log.
  ...['A', 'B'],
  // Elements of a page, and what is asked of a style sheet or put into one.
  ...['img, svg, video, iframe, canvas', 'input, textarea, select', 'list item'],
  ...['(prefers-reduced-motion: reduce)', '(prefers-color-scheme: dark)', '(forced-colors: active)'],
  '<style nonce=',
  // The title of a browser's tab: the task and the product.
  '…: Tandem',
  // A header of HTTP.
  'Bearer …',
  // Styles.
  ...['height: …px', '…px …', '--rows: …'],
]);

it('has no word in a view that could not be translated', async () => {
  const files = (await readdir('webview', { recursive: true })).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(30);
  const found = await Promise.all(
    files.map(async (name) => {
      const words = untranslated(await readFile(path.join('webview', name), 'utf8'));
      return words.filter((word) => !ALLOWED.has(word)).map((word) => `${name}: ${word}`);
    }),
  );
  expect(found.flat()).toEqual([]);
});
