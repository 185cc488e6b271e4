import { stemmer } from 'stemmer';

/** The words of an English text as Porter stems, in order. Names in snake_case fall apart into their words. */
export function stems(text: string): string[] {
  const words = text
    .toLowerCase()
    .replace(/['’]/g, '')
    .match(/\p{L}+|\p{N}+(?:\.\p{N}+)?/gu);
  return (words ?? []).map(stemOf);
}

/** Dialogues are made of the same words again and again. */
const known = new Map<string, string>();
const MOST_KNOWN = 10_000;

function stemOf(word: string): string {
  const stem = known.get(word);
  if (stem !== undefined) return stem;
  if (known.size === MOST_KNOWN) known.clear();
  const found = stemmer(word);
  known.set(word, found);
  return found;
}
