/** Removes these characters from the end. A regular expression such as `/x+$/` would take quadratic time. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** Ends a sentence with a full stop, because another one follows. */
export const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`);

/** Leaves out what is false, absent or empty: `present([name, isOld && 'old'])`. */
export const present = (parts: readonly (string | false | undefined)[]): string[] =>
  parts.filter((part): part is string => typeof part === 'string' && part !== '');

/** Rounded, as `12,345`. */
export const grouped = (number: number): string => Math.round(number).toLocaleString('en');

/** Trims each line and drops empty ones. */
export const trimmedLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const inOneLine = (text: string): string => trimmedLines(text).join(' ');

export const wordsIn = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Breaks between words; a longer word gets its own line. */
export function linesOf(text: string, characters: number): string[] {
  const lines: string[] = [];
  for (const word of wordsIn(text)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > characters) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Empty parts are left out. */
export const listIn = (text: string, separator: ',' | '|'): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** C0 and C1 controls, line and paragraph separators, and the characters that change the direction of text. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Characters that could control a terminal or reorder a line are escaped as in Python.
 * @param kept characters that are not escaped
 */
export function printable(text: string, kept = ''): string {
  return text.replace(unprintable, (character) => {
    if (kept.includes(character)) return character;
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
