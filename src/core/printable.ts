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
