// The page of a package: the repository's, without what only somebody with the repository can do or open.

/** Sections for whoever has the repository stand between two marks, which no page shows. */
const development = /<!-- development -->\n[^]*?<!-- \/development -->\n+/g;

/** A link in Markdown: `[text](target)`, a picture when `!` goes before it. */
const link = /(?<!!)\[([^\][]+)\]\(([^()\s]+)\)/.source;

/** `([architecture](docs/architecture.md))`, with the space before it. */
const aside = new RegExp(`\\s*\\(${link}\\)`, 'g');

/** `[How grading works](docs/grading.md).` as a sentence of its own, with the space before it. */
const pointer = new RegExp(`(?<=[.:)\\]])\\s+${link}\\.(?=\\s|$)`, 'g');

/**
 * @param {string} text the repository's README.md
 * @param {(target: string) => boolean} isPackaged whether a relative target goes into the package
 * @returns {string} without the parts for development; of links that lead nowhere in a package the words are left, and where
 *   a link is all that a parenthesis or a sentence says, nothing is
 */
export function packagedReadme(text, isPackaged) {
  /** @param {string} target */
  const leads = (target) => /^(https?:|#)/.test(target) || isPackaged(target);
  return text
    .replace(development, '')
    .replace(aside, (whole, _, target) => (leads(String(target)) ? whole : ''))
    .replace(pointer, (whole, _, target) => (leads(String(target)) ? whole : ''))
    .replace(new RegExp(link, 'g'), (whole, words, target) =>
      leads(String(target)) ? whole : String(words),
    );
}
