/** Removes these characters from the end. A regular expression such as `/x+$/` would take quadratic time. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** Rounded, as `12,345`. */
export const grouped = (number: number): string => Math.round(number).toLocaleString('en');

/** Trims each line and drops empty ones. */
export const inOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');

/** Breaks between words; a longer word gets its own line. */
export function linesOf(text: string, characters: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > characters) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** As a person types a list; empty parts are left out. */
export const listIn = (text: string, separator: ',' | '|'): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
