import { createHash, randomUUID } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { messageOf } from '../core/fault';
import { graderVersion, type Grade, type GradingMode } from '../core/grading/grade';
import { scanLines } from '../core/trajectory/segment/scan';
import { wrongUse } from './command';
import { jsonOrUndefined } from '../core/json';

/** The grade of one line of a file of answers. */
export interface GradedLine extends Grade {
  readonly id: string;
}

interface Written extends GradedLine {
  /** Line number in the file of answers, from 1. */
  readonly line: number;
  /** Digest of what was graded, and how (`gradeKey`). */
  readonly key: string;
}

/** Position of a grade in the file; `start` and `length` are in bytes. */
interface Place {
  readonly key: string;
  readonly start: number;
  readonly length: number;
}

/** Number of bytes to read at once, because grades that are read in succession mostly lie close together. */
const WINDOW_BYTES = 256 * 1024;

/**
 * A file to which each grade is appended, one per line, so that an interrupted `tandem grade` can continue, and memory
 * does not grow with the number of grades.
 */
export class GradeFile implements AsyncDisposable {
  #writing = Promise.resolve();
  readonly #places = new Map<number, Place>();
  #end = 0;

  private constructor(
    private readonly file: string,
    private readonly handle: FileHandle,
  ) {}

  /**
   * Opens the file. An incomplete last line of an interrupted write is skipped; its answer is graded again.
   * @param file the file of grades; by default a temporary one, which is removed with this process
   * @throws {Fault} `usage` when the file cannot be written
   */
  static async open(file?: string): Promise<GradeFile> {
    const name = file ?? path.join(tmpdir(), `tandem-grades-${randomUUID()}.jsonl`);
    const handle = await open(name, 'a+').catch((error: unknown) => {
      throw wrongUse(`The grades cannot be written to ${name}: ${messageOf(error)}.`);
    });
    // The system keeps an open file that has no name, and frees it when this process ends.
    if (file === undefined) await rm(name);
    const grades = new GradeFile(name, handle);
    if (file !== undefined) await grades.#scan();
    return grades;
  }

  async #scan(): Promise<void> {
    const { size } = await this.handle.stat();
    if (size > 0) {
      const { buffer } = await this.handle.read({ buffer: Buffer.alloc(1), position: size - 1 });
      if (buffer.toString() !== '\n') await this.handle.appendFile('\n');
    }
    const { end } = await scanLines(this.file, 0, (buffer, start, stop, offset) => {
      const written = parsed(buffer.toString('utf8', start, stop));
      if (written === undefined) return;
      const { line, key } = written;
      this.#places.set(line, { key, start: offset, length: stop - start });
    });
    this.#end = end;
  }

  /**
   * Returns whether the file holds the grade of this line.
   * @throws {Fault} `usage` when the file holds the grade of something else for this line
   */
  has(line: number, key: string): boolean {
    const place = this.#places.get(line);
    if (place !== undefined && place.key !== key)
      throw wrongUse(
        `${this.file} holds the grade of another answer, task or mode for line ${line}. Name another file with --out, or remove it.`,
      );
    return place !== undefined;
  }

  /** Appends a grade; resolves when it is written. Grades are written one after the other. */
  add(line: number, key: string, grade: GradedLine): Promise<void> {
    const text = Buffer.from(JSON.stringify({ line, key, ...grade }));
    this.#writing = this.#writing.then(async () => {
      await this.handle.appendFile(Buffer.concat([text, LINE_FEED]));
      this.#places.set(line, { key, start: this.#end, length: text.length });
      this.#end += text.length + 1;
    });
    return this.#writing;
  }

  /** Yields the grades of these lines, each of which must be in the file. */
  async *read(lines: Iterable<number>): AsyncGenerator<GradedLine> {
    let window = Buffer.alloc(0);
    let from = 0;
    for (const each of lines) {
      const { start, length } = this.#places.get(each)!;
      if (start < from || start + length > from + window.length) {
        // Grades are not in the order of their lines: the next one may lie a little before this one.
        from = Math.max(0, start - WINDOW_BYTES / 4);
        const { buffer, bytesRead } = await this.handle.read({
          buffer: Buffer.alloc(Math.max(WINDOW_BYTES, start - from + length)),
          position: from,
        });
        window = buffer.subarray(0, bytesRead);
      }
      const {
        line: _,
        key: __,
        ...grade
      } = parsed(window.toString('utf8', start - from, start - from + length))!;
      yield grade;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing.catch(() => undefined); // `add` has rejected with this error already
    await this.handle.close();
  }
}

const LINE_FEED = Buffer.from('\n');

/** Returns a digest of everything that a grade depends on. */
export function gradeKey(task: unknown, answer: string, mode: GradingMode): string {
  const what = JSON.stringify([task, answer, mode, graderVersion]);
  return createHash('sha256').update(what).digest('hex').slice(0, 16);
}

/** Returns undefined for the incomplete line of an interrupted write. */
function parsed(text: string): Written | undefined {
  const value = jsonOrUndefined(text);
  return isWritten(value) ? value : undefined;
}

function isWritten(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && 'line' in value && 'key' in value && 'tests' in value;
}
