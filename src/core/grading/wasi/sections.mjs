// Sections of a WebAssembly module. The build uses this file as it stands, so it is JavaScript.

/** Number of custom sections, which say nothing about what the module does, such as debug data. */
const CUSTOM = 0;

/**
 * Yields the sections of a module. Source: WebAssembly core specification 2.0, section 5.5 (binary modules).
 *
 * @param {Uint8Array} binary a module
 * @returns {Generator<{id: number, at: number, start: number, end: number}>} each section: its number, and where it,
 * its body and what follows it begin
 */
export function* sectionsOf(binary) {
  let at = 8;
  while (at < binary.length) {
    const [length, start] = readNumber(binary, at + 1);
    const end = start + length;
    yield { id: binary[at] ?? CUSTOM, at, start, end };
    at = end;
  }
}

/**
 * @param {Uint8Array} binary a module
 * @returns {Buffer<ArrayBuffer>} the same module without its custom sections
 */
export function withoutCustomSections(binary) {
  const kept = [...sectionsOf(binary)].filter(({ id }) => id !== CUSTOM);
  return Buffer.concat([binary.subarray(0, 8), ...kept.map(({ at, end }) => binary.subarray(at, end))]);
}

/**
 * Reads a number in unsigned LEB128.
 *
 * @param {Uint8Array} bytes
 * @param {number} start
 * @returns {[value: number, next: number]} the number and the position behind it
 */
export function readNumber(bytes, start) {
  let value = 0;
  let at = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++] ?? 0;
    value |= (byte & 127) << shift;
    if (byte < 128) return [value >>> 0, at];
  }
}
