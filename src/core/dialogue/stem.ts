import { stemmer } from 'stemmer';

/** The words of an English text as Porter stems, in order. Names in snake_case fall apart into their words. */
export function stems(text: string): string[] {
  const words = text
    .toLowerCase()
    .replace(/['’]/g, '')
    .match(/\p{L}+|\p{N}+(?:\.\p{N}+)?/gu);
  return (words ?? []).map(stemmer);
}
