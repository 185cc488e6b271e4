// Characters as Python's `str` sees them.

/** White space of `str.strip` and of `\s` in `re`. */
const SPACES = new Set(
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);
const LINE_ENDS = new Set('\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029');

export const isSpace = (character: string): boolean => SPACES.has(character);

/** @param characters those to remove; white space if it is left out */
export function stripStart(text: string, characters?: string): string {
  const removed = characters === undefined ? SPACES : new Set(characters);
  const all = Array.from(text);
  const start = all.findIndex((character) => !removed.has(character));
  return start < 0 ? '' : all.slice(start).join('');
}

/** @param characters those to remove; white space if it is left out */
export function stripEnd(text: string, characters?: string): string {
  const removed = characters === undefined ? SPACES : new Set(characters);
  const all = Array.from(text);
  const end = all.findLastIndex((character) => !removed.has(character));
  return all.slice(0, end + 1).join('');
}

export function splitLines(text: string, keepEnds = false): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (!LINE_ENDS.has(text.charAt(at))) continue;
    const end = text.startsWith('\r\n', at) ? at + 2 : at + 1;
    lines.push(text.slice(start, keepEnds ? end : at));
    start = end;
    at = end - 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** By code points, as Python does; JavaScript compares UTF-16 units. */
export function compareTexts(a: string, b: string): number {
  for (let at = 0; ;) {
    const one = a.codePointAt(at);
    const other = b.codePointAt(at);
    if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? -1 : 1;
    if (one !== other) return one - other;
    at += one > 0xffff ? 2 : 1;
  }
}

const DIGRAPHS: Readonly<Record<string, string>> = {
  ...{ Ǆ: 'ǅ', ǅ: 'ǅ', ǆ: 'ǅ', Ǉ: 'ǈ', ǈ: 'ǈ', ǉ: 'ǈ' },
  ...{ Ǌ: 'ǋ', ǋ: 'ǋ', ǌ: 'ǋ', Ǳ: 'ǲ', ǲ: 'ǲ', ǳ: 'ǲ' },
};

function titled(character: string): string {
  const [first = '', ...others] = character.toUpperCase();
  return DIGRAPHS[character] ?? first + others.join('').toLowerCase();
}

export function capitalize(text: string): string {
  const [first = '', ...others] = text;
  return titled(first) + others.join('').toLowerCase();
}

/** `str.title`: a cased character that follows no cased one is upper-case. */
export function titleCase(text: string): string {
  let inWord = false;
  return Array.from(text, (character) => {
    const changed = inWord ? character.toLowerCase() : titled(character);
    inWord = character.toLowerCase() !== character.toUpperCase();
    return changed;
  }).join('');
}

/** `str.islower` and `str.isupper`: all cased characters are so, and there is one. */
export const isLower = (text: string): boolean => isCased(text) && text === text.toLowerCase();
export const isUpper = (text: string): boolean => isCased(text) && text === text.toUpperCase();
const isCased = (text: string): boolean => text.toLowerCase() !== text.toUpperCase();
