import { stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fault, messageOf } from '../fault';
import { isTooDeep } from '../json';
import { endlessLine, MAX_PASSED_OVER_BYTES, openRegular } from '../regularFile';

/** `line` counts from 1; `reason` is one sentence. */
export type JsonLine =
  { readonly line: number; readonly value: unknown } | { readonly line: number; readonly reason: string };

export interface JsonLinesOptions {
  readonly signal?: AbortSignal;
  /** Longest line in bytes that is read; a longer one is reported and never held in memory. */
  readonly maxLineBytes?: number;
}

/** Far above any task or trajectory, and so small that one line never decides how much memory is needed. */
const DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024;

const READ_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;

/**
 * Reads a JSON-lines file one line at a time. Blank lines are passed over, a byte-order mark and carriage returns are
 * accepted, and the last line needs no line feed. A line that cannot be read is reported and the next one follows.
 * Memory: one read buffer and one line, whatever the size of the file.
 *
 * @throws {Fault} `task/no-file`, `task/is-folder`, `task/no-permission`, `task/unreadable`, `task/not-json-lines`,
 * `file/not-regular`, `file/too-large` for a line without an end
 */
export async function* readJsonLines(file: string, options: JsonLinesOptions = {}): AsyncGenerator<JsonLine> {
  const { signal, maxLineBytes = DEFAULT_MAX_LINE_BYTES } = options;
  signal?.throwIfAborted();
  const handle = await openToRead(file);
  try {
    for await (const { line, bytes, length } of splitLines(handle, file, maxLineBytes, signal)) {
      const parsed = bytes ? parseLine(line, bytes) : tooLong(line, length, maxLineBytes);
      if (parsed) yield parsed;
    }
  } finally {
    await handle.close();
  }
}

interface RawLine {
  readonly line: number;
  /** The line without its line feed; undefined when it is over the limit. Valid until the next line is asked for. */
  readonly bytes: Buffer | undefined;
  readonly length: number;
}

/**
 * Splits the bytes into lines. Node's `readline` decodes before it splits, so that it repairs invalid UTF-8 silently
 * and holds a line of any length.
 */
async function* splitLines(
  handle: FileHandle,
  file: string,
  maxLineBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<RawLine> {
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  let line = 1;
  let begun: Buffer[] = []; // pieces of a line that began in an earlier read
  let length = 0;
  for (let first = true; ; first = false) {
    signal?.throwIfAborted();
    const read = await readInto(handle, buffer, file);
    if (read === 0) break;
    const chunk = buffer.subarray(0, read);
    if (first) refuseOtherFormats(chunk, file);
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      length += end - start;
      const rest = chunk.subarray(start, end);
      const bytes = begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
      yield { line, bytes: length > maxLineBytes ? undefined : bytes, length };
      line += 1;
      begun = [];
      length = 0;
      start = end + 1;
    }
    length += chunk.length - start;
    if (length > MAX_PASSED_OVER_BYTES) throw endlessLine(file);
    if (length > maxLineBytes) begun = [];
    else if (start < chunk.length) begun.push(Buffer.from(chunk.subarray(start)));
  }
  if (length > 0) {
    yield { line, bytes: length > maxLineBytes ? undefined : Buffer.concat(begun), length };
  }
}

// `fatal` makes invalid bytes an error; a byte-order mark in front is dropped.
const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseLine(line: number, bytes: Buffer): JsonLine | undefined {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { line, reason: 'The line is not valid UTF-8; save the file as UTF-8.' };
  }
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? { line, reason: 'The line is nested too deeply.' } : { line, value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const [, constant] = PYTHON_CONSTANT.exec(text) ?? [];
    const why = constant === undefined ? error.message : `it has ${constant}; write null in its place`;
    return { line, reason: `The line is not JSON: ${why}.` };
  }
}

/** Python's `json` writes these for a missing value of pandas, and reads them. */
const PYTHON_CONSTANT = /[:,[] ?(NaN|-?Infinity)[ ,\]}]/;

function tooLong(line: number, length: number, maxLineBytes: number): JsonLine {
  return {
    line,
    reason: `The line is ${bytesOf(length)} long, over the limit of ${bytesOf(maxLineBytes)}, and is left out.`,
  };
}

function bytesOf(count: number): string {
  return `${count.toLocaleString('en')} bytes`;
}

/** Refuses files that people do pass as JSON lines, instead of a puzzling reason for every line. */
function refuseOtherFormats(start: Buffer, file: string): void {
  const begins = (...bytes: number[]): boolean => bytes.every((byte, index) => start[index] === byte);
  if (begins(0xff, 0xfe) || begins(0xfe, 0xff)) {
    throw new Fault('task/not-json-lines', `${file} is in UTF-16; save it as UTF-8.`);
  }
  if (begins(0x1f, 0x8b) || begins(0x50, 0x4b, 0x03, 0x04) || begins(0x28, 0xb5, 0x2f, 0xfd)) {
    throw new Fault('task/not-json-lines', `${file} is compressed; unpack it first.`);
  }
  if (PARQUET.some((signature) => start.indexOf(signature) === 0)) {
    throw new Fault('task/not-json-lines', `${file} is Parquet or Arrow; ${WRITE_LINES}`);
  }
  const text = start.toString('utf8', 0, 2048).replace(/^\uFEFF/, '');
  if (/^\s*\[\s*\{/.test(text)) {
    throw new Fault('task/not-json-lines', `${file} is one JSON array; ${WRITE_LINES}`);
  }
  if (CSV_HEADER.test(text)) throw new Fault('task/not-json-lines', `${file} is CSV; ${WRITE_LINES}`);
}

const PARQUET = ['PAR1', 'ARROW1'];

/** Column names of a pack or of published rows, one of which is never a whole first line of JSON lines. */
const CSV_HEADER =
  /^[^\n{}[\]]*\b(problem_description|dialogue_history|ground_truth|test_cases)\b[^\n{}[\]]*\r?\n/;

const WRITE_LINES =
  'write it as JSON lines, with pandas by to_json(FILE, orient="records", lines=True), with datasets by to_json(FILE).';

async function openToRead(file: string): Promise<FileHandle> {
  try {
    if ((await stat(file)).isDirectory()) throw isFolder(file);
    return await openRegular(file);
  } catch (error) {
    throw error instanceof Fault ? error : await readFault(file, error);
  }
}

async function readInto(handle: FileHandle, buffer: Buffer, file: string): Promise<number> {
  try {
    return (await handle.read(buffer, 0, buffer.length)).bytesRead;
  } catch (error) {
    throw await readFault(file, error);
  }
}

function isFolder(file: string, cause?: unknown): Fault {
  return new Fault('task/is-folder', `${file} is a folder; name a JSON-lines file in it.`, { cause });
}

async function readFault(file: string, cause: unknown): Promise<Fault> {
  switch (codeOf(cause)) {
    case 'ENOENT':
    case 'ENOTDIR': {
      const folder = dirname(file);
      const what = (await isExistingFolder(folder)) ? file : `The folder ${folder} of ${file}`;
      return new Fault('task/no-file', `${what} does not exist; check the path.`, { cause });
    }
    case 'EISDIR':
      return isFolder(file, cause);
    case 'EACCES':
    case 'EPERM':
      return new Fault(
        'task/no-permission',
        `${file} may not be read; give yourself permission to read it.`,
        {
          cause,
        },
      );
    default:
      return new Fault('task/unreadable', `${file} cannot be read: ${messageOf(cause)}.`, { cause });
  }
}

async function isExistingFolder(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
