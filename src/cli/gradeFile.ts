import { createHash, randomUUID } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { messageOf } from '../core/fault';
import { graderVersion, type Grade, type GradingMode } from '../core/grading/grade';
import { scanLines } from '../core/trajectory/segment/scan';
import { wrongUse } from './command';

/** The grade of one line of a file of answers. */
export interface GradedLine extends Grade {
  readonly id: string;
}

interface Written extends GradedLine {
  /** It counts the lines of the file of answers, from 1. */
  readonly line: number;
  /** It says what was graded, and how (`gradeKey`). */
  readonly key: string;
}

/** A grade stands here in the file; both numbers are bytes. */
interface Place {
  readonly key: string;
  readonly start: number;
  readonly length: number;
}

/** So many bytes are read at once, because grades that follow each other mostly stand near each other. */
const WINDOW_BYTES = 256 * 1024;

/**
 * A file that gets each grade as it comes, one a line, so that an interrupted `tandem grade` goes on where it was, and so that
 * none is held in memory: a million are told of as well as ten.
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
   * Opens the file, and passes over what an interrupted write left of its last line, which is graded again.
   * @param file where the grades stay; a temporary one, which is gone with this process, when left out
   * @throws {Fault} `usage` when the file cannot be written
   */
  static async open(file?: string): Promise<GradeFile> {
    const name = file ?? path.join(tmpdir(), `tandem-grades-${randomUUID()}.jsonl`);
    const handle = await open(name, 'a+').catch((error: unknown) => {
      throw wrongUse(`The grades cannot be written to ${name}: ${messageOf(error)}.`);
    });
    // The system keeps a file without a name for as long as it is open.
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
   * Whether the grade of this line is there.
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

  /** Resolves when it is written; one grade after the other is. */
  add(line: number, key: string, grade: GradedLine): Promise<void> {
    const text = Buffer.from(JSON.stringify({ line, key, ...grade }));
    this.#writing = this.#writing.then(async () => {
      await this.handle.appendFile(Buffer.concat([text, LINE_FEED]));
      this.#places.set(line, { key, start: this.#end, length: text.length });
      this.#end += text.length + 1;
    });
    return this.#writing;
  }

  /** The grades of these lines, which must be there, one after the other. */
  async *read(lines: Iterable<number>): AsyncGenerator<GradedLine> {
    let window = Buffer.alloc(0);
    let from = 0;
    for (const each of lines) {
      const { start, length } = this.#places.get(each)!;
      if (start < from || start + length > from + window.length) {
        // Grades are written as they come: one a little before may be asked for next.
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
    await this.#writing.catch(() => undefined); // whoever added the grade was told
    await this.handle.close();
  }
}

const LINE_FEED = Buffer.from('\n');

/** Changes with all that decides a grade. */
export function gradeKey(task: unknown, answer: string, mode: GradingMode): string {
  const what = JSON.stringify([task, answer, mode, graderVersion]);
  return createHash('sha256').update(what).digest('hex').slice(0, 16);
}

/** Undefined for what an interrupted write left. */
function parsed(text: string): Written | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isWritten(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isWritten(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && 'line' in value && 'key' in value && 'tests' in value;
}
