import { createHash } from 'node:crypto';

/** Derives a seed from its parts alone, in the range that model servers take: 0 to 2³¹−1. */
export function deriveSeed(...parts: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  return digest.readUInt32BE(0) >>> 1;
}
