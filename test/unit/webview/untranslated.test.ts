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

it.each<[string, string[]]>([
  ['html`<p class="quiet">turn ${now} of ${most}</p>`', ['turn', 'of']],
  ["html`<p aria-label=${is ? 'good' : other}></p>`", ['good']],
  ["html`<p class=${is ? 'on' : 'off'}>${name || 'nobody'}</p>`", ['nobody']],
  ["button({ label: 'Send', key: 'Enter+', onPress: () => host.act('stop') })", ['Send']],
  ["const words = 'Waiting for first token…';", ['Waiting for first token…']],
  ["t('Thoughts of {0}', `candidate ${name}`)", ['candidate …']],
  ["import x from './the view'; element.querySelector('main > .column'); t('A sentence.');", []],
  ["html`<p class=\"a b\">${t('A sentence.')}&nbsp;${'·'} 5</p>`", []],
])('finds in %s what could not be translated', (source, words) => {
  expect(untranslated(source)).toEqual(words);
});
