import { createHash } from 'node:crypto';

/** A seed that is a pure function of its parts, 0 to 2³¹−1 (what model servers take). */
export function deriveSeed(...parts: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  return digest.readUInt32BE(0) >>> 1;
}
