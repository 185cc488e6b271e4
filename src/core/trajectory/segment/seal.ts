import { crc32 } from 'node:zlib';
import { matches } from './line';

/*
 * Each line ends in a seal: its number within the segment, from 1, and the CRC-32 of every byte of the line before the
 * sum. Lines of older Tandems have none. The seal stands at the end so that the front of a line stays what it was.
 */

const NUMBER = Buffer.from(',"number":');
const SUM = Buffer.from(',"sum":"');
const SUM_DIGITS = 8;
/** From the comma before `sum` to the brace. */
const SUM_BYTES = SUM.length + SUM_DIGITS + 2;
const BRACE_AND_LINE_FEED = 2;

/** No seal is longer, whatever the number. */
export const MAX_SEAL_BYTES = NUMBER.length + 16 + SUM_BYTES;

/** The line (an object and a line feed) with its seal. */
export function sealLine(line: Buffer, number: number): Buffer {
  const body = line.subarray(0, line.length - BRACE_AND_LINE_FEED);
  const counted = Buffer.from(`,"number":${number}`);
  const sum = crc32(counted, crc32(body)).toString(16).padStart(SUM_DIGITS, '0');
  return Buffer.concat([body, counted, Buffer.from(`,"sum":"${sum}"}\n`)]);
}

/** `broken`: what the line says is not what was written. `none`: it has no seal, or a damaged one. */
export type Seal = 'none' | 'broken' | { readonly number: number };

/** The seal of the line from `start` to `end`, without its line feed. */
export function sealOf(buffer: Buffer, start: number, end: number): Seal {
  const sumStart = end - SUM_BYTES;
  if (sumStart <= start || !matches(buffer, sumStart, SUM)) return 'none';
  const sum = hexadecimal(buffer, sumStart + SUM.length);
  if (sum === undefined || buffer[end - 2] !== 0x22 || buffer[end - 1] !== 0x7d) return 'none';
  if (crc32(buffer.subarray(start, sumStart)) !== sum) return 'broken';
  const number = numberBefore(buffer, start, sumStart);
  return number === undefined ? 'none' : { number };
}

function numberBefore(buffer: Buffer, start: number, end: number): number | undefined {
  let number = 0;
  let at = end;
  for (let place = 1; at > start && isDigit(buffer[at - 1]!); place *= 10) {
    at -= 1;
    number += (buffer[at]! - 0x30) * place;
  }
  const isCounted = at < end && matches(buffer, at - NUMBER.length, NUMBER);
  return isCounted ? number : undefined;
}

function hexadecimal(buffer: Buffer, start: number): number | undefined {
  let value = 0;
  for (let at = start; at < start + SUM_DIGITS; at += 1) {
    const byte = buffer[at]!;
    const digit = isDigit(byte) ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : undefined;
    if (digit === undefined) return undefined;
    value = value * 16 + digit;
  }
  return value;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
