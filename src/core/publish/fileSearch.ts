import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { Fault } from '../fault';
import { openRegular } from '../regularFile';
import { maskedExcerpt, spansIn, type Span } from '../trajectory/findings/scanner';

/** A secret or an e-mail address, masked, or why a file cannot be searched. */
export interface PublicationFinding {
  readonly path: string;
  /** From 1; absent in a file that is not text, and in the path itself. */
  readonly line?: number;
  readonly what: string;
  readonly excerpt: string;
}

export interface SearchedFile {
  readonly bytes: number;
  /** Another one if the file is written to or replaced. */
  readonly stamp: string;
  readonly findings: readonly PublicationFinding[];
}

/** Bytes searched at once, and what of the neighbours is searched with them: secrets end within it, keys included. */
const BODY = 1024 * 1024;
const BEFORE = 4 * 1024;
const AFTER = 64 * 1024;

const MAX_FINDINGS = 1000;

/**
 * Searches a file of any size and kind in bounded memory: text as it is, with JSON's escapes read, and of other bytes
 * the printable runs, in UTF-16 and UTF-32 too. Compressed content is reported as such, by its first bytes.
 * @param path in the repository; it is searched, too
 * @param file a regular file
 * @throws {Fault} `publish/changed`
 * @throws the signal's reason if it is aborted
 */
export async function searchFile(file: string, path: string, signal?: AbortSignal): Promise<SearchedFile> {
  const handle = await openRegular(file);
  try {
    const stamp = await stampOf(handle);
    const search = new FileSearch(handle, file, path);
    const findings = await search.run(signal);
    if ((await stampOf(handle)) !== stamp) throw changed(file);
    return { bytes: search.bytes, stamp, findings };
  } finally {
    await handle.close();
  }
}

export async function stampOf(handle: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

export function changed(file: string, cause?: unknown): Fault {
  const message = `${file} has changed since it was searched for secrets, so nothing is published. Wait until nothing writes to it, then publish again.`;
  return new Fault('publish/changed', message, { cause });
}

class FileSearch {
  bytes = 0;
  private readonly findings: PublicationFinding[] = [];
  private readonly seen = new Set<string>();
  private line = 1;
  private isZip = false;

  constructor(
    private readonly handle: FileHandle,
    private readonly file: string,
    private readonly path: string,
  ) {}

  async run(signal: AbortSignal | undefined): Promise<PublicationFinding[]> {
    const { path, findings } = this;
    for (const span of await spansIn(path))
      findings.push({ path, what: span.what, excerpt: maskedExcerpt(path, [span], span) });
    const { size } = await this.handle.stat();
    this.bytes = size;
    const buffer = Buffer.allocUnsafe(Math.min(size, BEFORE + BODY + AFTER));
    for (let body = 0; body < size && findings.length < MAX_FINDINGS; body += BODY) {
      signal?.throwIfAborted();
      const from = Math.max(0, body - BEFORE);
      const window = buffer.subarray(0, Math.min(size - from, body - from + BODY + AFTER));
      await this.fill(window, from);
      if (body === 0 && this.cannotBeSearched(window)) break;
      const end = body - from + BODY;
      if (this.isZip && this.isCompressedZip(window)) break;
      await this.search(window, body - from, end);
    }
    return findings;
  }

  private async fill(window: Buffer, from: number): Promise<void> {
    for (let filled = 0; filled < window.length;) {
      const { bytesRead } = await this.handle.read(window, filled, window.length - filled, from + filled);
      if (bytesRead === 0) throw changed(this.file);
      filled += bytesRead;
    }
  }

  private cannotBeSearched(window: Buffer): boolean {
    this.isZip = window.subarray(0, 4).equals(ZIP_ENTRY);
    const known = COMPRESSED.find(([, start]) => window.subarray(0, start.length).equals(start));
    if (known === undefined || textOf(window) !== undefined) return false;
    this.report(known[0]);
    return true;
  }

  private report(format: string): void {
    const { path } = this;
    this.findings.push({
      path,
      what: 'cannot be searched',
      excerpt: `its content is compressed (${format})`,
    });
  }

  /** PyTorch stores the entries of its archives as they are, which leaves them searchable. */
  private isCompressedZip(window: Buffer): boolean {
    for (let at = window.indexOf(ZIP_ENTRY); at !== -1; at = window.indexOf(ZIP_ENTRY, at + 4)) {
      if (at + 10 > window.length) return false;
      const isEntry = window.readUInt16LE(at + 4) < 100;
      if (!isEntry || window.readUInt16LE(at + 8) === 0) continue;
      this.report('ZIP');
      return true;
    }
    return false;
  }

  /** @param start of the body in the window; findings that begin outside of it are its neighbours' */
  private async search(window: Buffer, start: number, end: number): Promise<void> {
    const text = textOf(window);
    if (text === undefined) {
      await this.searchRuns([...runsIn(window, RUNS), ...runsIn(window, WIDE_RUNS)], start, end);
      return;
    }
    const [from, to] = [cutAt(text, start), cutAt(text, end)];
    const before = readable(text.subarray(0, from));
    const body = readable(text.subarray(from, to));
    const whole = `${before}${body}${readable(text.subarray(to))}`;
    const spans = await spansIn(whole);
    let at = before.length;
    for (const span of spans) {
      if (span.start < before.length || span.start >= before.length + body.length) continue;
      this.line += lineFeedsIn(whole, at, span.start);
      at = span.start;
      this.add(whole, spans, span, this.line);
    }
    this.line += lineFeedsIn(whole, at, before.length + body.length);
  }

  private async searchRuns(runs: readonly Run[], start: number, end: number): Promise<void> {
    const own = runs
      .filter((run) => run.start < end && run.end > start)
      .map((run) => readRun(run, start, end));
    if (own.length === 0) return;
    const text = own.map((run) => run.text).join(BETWEEN);
    const spans = await spansIn(text);
    let [next, runStart] = [0, 0];
    for (const span of spans) {
      while (runStart + own[next]!.text.length <= span.start)
        runStart += own[next++]!.text.length + BETWEEN.length;
      const run = own[next]!;
      const at = span.start - runStart;
      if (at < run.from || at >= run.to || isNoise(run, span, text)) continue;
      this.add(text, spans, span);
    }
  }

  private add(text: string, spans: readonly Span[], span: Span, line?: number): void {
    if (this.findings.length >= MAX_FINDINGS) return;
    // A row repeats earlier turns of its dialogue; a secret ends where its string does.
    const [value] = text.slice(span.start, span.end).split(/["'`]/, 1);
    const key = `${line ?? 0} ${value}`;
    if (this.seen.has(key)) return;
    this.seen.add(key);
    const excerpt = maskedExcerpt(text, spans, span).replaceAll(/\s/g, ' ');
    const { path } = this;
    this.findings.push({ path, ...(line !== undefined && { line }), what: span.what, excerpt });
    if (this.findings.length === MAX_FINDINGS)
      this.findings.push({ path, what: 'more', excerpt: `only the first ${MAX_FINDINGS} are listed` });
  }
}

const BETWEEN = '\n\n';

/** Undefined if it is not text. The first and the last character may be cut. */
function textOf(window: Buffer): Buffer | undefined {
  if (window.includes(0)) return undefined;
  let from = 0;
  while (from < Math.min(3, window.length) && (window[from]! & 0xc0) === 0x80) from += 1;
  let to = window.length;
  for (let at = window.length - 1; at >= Math.max(from, window.length - 4); at -= 1) {
    const byte = window[at]!;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (at + length > window.length) to = at;
    break;
  }
  return isUtf8(window.subarray(from, to)) ? window : undefined;
}

/** The nearest place before `at` that is inside of no character and no escape. */
function cutAt(text: Buffer, at: number): number {
  if (at === 0) return 0;
  if (at >= text.length) return text.length;
  let cut = at;
  const escape = text.lastIndexOf(BACKSLASH, at - 1);
  if (escape >= Math.max(0, at - ESCAPE_BYTES)) cut = escape;
  while (cut > 0 && text[cut - 1] === BACKSLASH) cut -= 1;
  while (cut > 0 && (text[cut]! & 0xc0) === 0x80) cut -= 1;
  return cut;
}

const BACKSLASH = 0x5c;
const ESCAPE_BYTES = String.raw`\u0000`.length;

/**
 * With JSON's escapes read, because an escape before a secret hides where it begins.
 * Escaped white space becomes a carriage return, which is no new line of the file.
 */
function readable(bytes: Buffer): string {
  let text = bytes.toString();
  for (let depth = 0; depth < MAX_ESCAPES && text.includes('\\'); depth += 1)
    text = text.replaceAll(ESCAPE, (_, code?: string, letter?: string) => {
      if (code === undefined) return letter === undefined || 'bfnrt'.includes(letter) ? '\r' : letter;
      const character = String.fromCharCode(Number.parseInt(code, 16));
      return character === '\n' ? '\r' : character;
    });
  return text;
}

/** JSON in a string of JSON in a string of JSON. */
const MAX_ESCAPES = 3;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;

function lineFeedsIn(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

interface Run {
  readonly text: string;
  /** Offsets in the window. */
  readonly start: number;
  readonly end: number;
  /** Bytes of a character. */
  readonly width: number;
}

/** Shorter ones are noise: of random bytes, one in 3,000 begins such a run. */
const RUNS = /[\t\r\n\x20-\x7e]{8,}/g;
/** UTF-16 and UTF-32, of either byte order. */
const WIDE_RUNS =
  /(?:[\t\r\n\x20-\x7e]\0){8,}|(?:\0[\t\r\n\x20-\x7e]){8,}|(?:[\t\r\n\x20-\x7e]\0{3}){8,}|(?:\0{3}[\t\r\n\x20-\x7e]){8,}/g;

function runsIn(window: Buffer, pattern: RegExp): Run[] {
  return [...window.toString('latin1').matchAll(pattern)].flatMap(({ 0: found, index: start }) => {
    const text = found.replaceAll('\0', '');
    const width = found.length / text.length;
    const length = lengthBefore(window, start);
    if (width > 1 || length >= text.length) return [{ text, start, end: start + found.length, width }];
    const middle = start + length;
    return [
      { text: text.slice(0, length), start, end: middle, width },
      { text: text.slice(length), start: middle, end: start + text.length, width },
    ];
  });
}

/** That a pickle says of a string, which its next instruction follows without a gap; else infinite. */
function lengthBefore(window: Buffer, start: number): number {
  const length = start < 4 ? 0 : window.readUInt32LE(start - 4);
  return length === 0 ? Number.POSITIVE_INFINITY : length;
}

/** With its escapes read, and what of the text is in the body. */
interface ReadRun {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

function readRun({ text, start, width }: Run, bodyStart: number, bodyEnd: number): ReadRun {
  const bytes = Buffer.from(text);
  const cut = (at: number): number => cutAt(bytes, Math.max(0, Math.ceil((at - start) / width)));
  const [from, to] = [cut(bodyStart), cut(bodyEnd)];
  const before = readable(bytes.subarray(0, from));
  const body = readable(bytes.subarray(from, to));
  const whole = `${before}${body}${readable(bytes.subarray(to))}`;
  return { text: whole, from: before.length, to: before.length + body.length };
}

/**
 * Random bytes have addresses such as `H@g65.Wk`, in short runs; those that people write into metadata are in lower
 * case.
 */
function isNoise(run: ReadRun, { kind, start, end }: Span, text: string): boolean {
  if (kind !== 'e-mail address' || run.text.length > 24) return false;
  return /[^a-z\d.-]/.test(text.slice(text.indexOf('@', start) + 1, end));
}

const ZIP_ENTRY = Buffer.from('PK\x03\x04');

/** Names of formats with compressed content, and their first bytes. */
const COMPRESSED: readonly (readonly [string, Buffer])[] = [
  ['gzip', Buffer.from([0x1f, 0x8b])],
  ['zlib', Buffer.from([0x78, 0x01])],
  ['zlib', Buffer.from([0x78, 0x5e])],
  ['zlib', Buffer.from([0x78, 0x9c])],
  ['zlib', Buffer.from([0x78, 0xda])],
  ['bzip2', Buffer.from('BZh')],
  ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a])],
  ['Zstandard', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
  ['LZ4', Buffer.from([0x04, 0x22, 0x4d, 0x18])],
  ['7-Zip', Buffer.from([0x37, 0x7a, 0xbc, 0xaf])],
  ['RAR', Buffer.from('Rar!')],
  ['Parquet', Buffer.from('PAR1')],
  ['Arrow', Buffer.from('ARROW1')],
  ['ORC', Buffer.from('ORC')],
  ['HDF5', Buffer.from([0x89, 0x48, 0x44, 0x46])],
  ['PNG', Buffer.from([0x89, 0x50, 0x4e, 0x47])],
  ['JPEG', Buffer.from([0xff, 0xd8, 0xff])],
  ['GIF', Buffer.from('GIF8')],
  ['WebP, WAV or AVI', Buffer.from('RIFF')],
  ['PDF', Buffer.from('%PDF-')],
];
