import { createHash } from 'node:crypto';

const numberOf = (parts: readonly (string | number)[]): number =>
  createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32BE(0);

/** Derives a seed from its parts alone, in the range that model servers take: 0 to 2³¹−1. */
export function deriveSeed(...parts: readonly (string | number)[]): number {
  return numberOf(parts) >>> 1;
}

/** One of the options, by the parts alone. */
export function choiceBy<Option>(options: readonly Option[], ...parts: readonly (string | number)[]): Option {
  return options[numberOf(parts) % options.length]!;
}
