import { stemmer } from 'stemmer';

/** Returns the words of an English text as Porter stems, in order. Names in snake_case are split into their words. */
export function stems(text: string): string[] {
  const words = text
    .toLowerCase()
    .replace(/['’]/g, '')
    .match(/\p{L}+|\p{N}+(?:\.\p{N}+)?/gu);
  return (words ?? []).map(stemOf);
}

/** Stems by word, kept because dialogues repeat the same words. */
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
