import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
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

describe('words that could not be translated', () => {
  it('are found in the text and the attributes of a template', () => {
    expect(untranslated('html`<p class="quiet">turn ${now} of ${most}</p>`')).toEqual(['turn', 'of']);
    expect(untranslated('html`<p title="Turn ${now}" aria-label=Turn></p>`')).toEqual(['"Turn …"', 'Turn']);
    expect(untranslated('html`<ul>${all.map((one) => html`<li>one: ${one}</li>`)}</ul>`')).toEqual(['one:']);
  });

  it('are found in what is filled into a template, where it is seen or read', () => {
    expect(untranslated("html`<p class=${is ? 'on' : 'off'}>${is ? 'good' : t('bad')}</p>`")).toEqual([
      'good',
    ]);
    expect(untranslated("html`<p aria-label=${is ? 'good' : other}></p>`")).toEqual(['good']);
    expect(untranslated("html`<p>${name || 'nobody'}${kind === 'act'}</p>`")).toEqual(['nobody']);
  });

  it('are found in what components draw', () => {
    expect(untranslated("button({ label: 'Send', key: 'Enter+', onPress: () => host.act('stop') })")).toEqual(
      ['Send'],
    );
    expect(untranslated("linkButton('session', open)")).toEqual(['session']);
  });

  it('are found in sentences anywhere, also in those that are filled into a translated one', () => {
    expect(untranslated("const words = 'Waiting for first token…';")).toEqual(['Waiting for first token…']);
    expect(untranslated('const words = `${count} stars`;')).toEqual(['… stars']);
    expect(untranslated("t('Thoughts of {0}', `candidate ${name}`)")).toEqual(['candidate …']);
  });

  it('are not names that only the code knows, nor what is translated', () => {
    const source =
      "import x from './the view'; element.querySelector('main > .column'); t('A sentence.'); send({ type: 'act' });";
    expect(untranslated(source)).toEqual([]);
    expect(untranslated("html`<p class=\"a b\">${t('A sentence.')}&nbsp;${'·'} 5</p>`")).toEqual([]);
  });
});
