// Makes the pages of a package, its README and its help: the repository's, without what is of use only inside the repository.

/** Matches sections for developers, which stand between two invisible marks. */
const development = /<!-- development -->\n[^]*?<!-- \/development -->\n+/g;

/** Matches a Markdown link, `[text](target)`, but no picture, which begins with `!`. */
const link = /(?<!!)\[([^\][]+)\]\(([^()\s]+)\)/.source;

/** Matches a link in parentheses with the space before it, e.g. `([architecture](docs/architecture.md))`. */
const aside = new RegExp(`\\s*\\(${link}\\)`, 'g');

/**
 * Matches a link that is a sentence of its own, with the space before it, e.g. `[How grading works](docs/grading.md).`
 */
const pointer = new RegExp(`(?<=[.:)\\]])\\s+${link}\\.(?=\\s|$)`, 'g');

/**
 * @param {string} text a Markdown page of the repository
 * @param {(target: string) => boolean} isPackaged whether a link may lead to this relative path; it is asked without the part after `#`
 * @returns {string} the text without development sections; a link whose target is not in the package is replaced by its
 * words, or removed when it is all of a parenthesis or a sentence
 */
export function packagedPage(text, isPackaged) {
  /** @param {string} target */
  const leads = (target) => /^(https?:|#)/.test(target) || isPackaged(target.replace(/#.*/, ''));
  return text
    .replace(development, '')
    .replace(aside, (whole, _, target) => (leads(String(target)) ? whole : ''))
    .replace(pointer, (whole, _, target) => (leads(String(target)) ? whole : ''))
    .replace(new RegExp(link, 'g'), (whole, words, target) =>
      leads(String(target)) ? whole : String(words),
    );
}
