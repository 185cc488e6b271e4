import { createHash, randomUUID } from 'node:crypto';
import { rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { messageOf, Fault } from '../core/fault';
import { type GradingMode, graderVersion, type Grade } from '../core/grading/grade';
import { jsonOrUndefined } from '../core/json';
import { openRegular } from '../core/regularFile';
import { scanLines } from '../core/trajectory/segment/reader';
import { wrongUse } from './command';

/** For one line of a file of answers. */
export interface GradedLine extends Grade {
  readonly id: string;
}

interface Written extends GradedLine {
  /** Line in the file of answers, from 1. */
  readonly line: number;
  /** Key of the task, the answer and the mode (`gradeKey`). */
  readonly key: string;
}

/** `start` and `length` are in bytes. */
interface Place {
  readonly key: string;
  readonly start: number;
  readonly length: number;
}

/**
 * Each grade is appended, one per line, so that an interrupted `tandem grade` can continue, and memory does not grow
 * with the number of grades.
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
   * An incomplete last line of an interrupted write is skipped; its answer is graded again.
   * @param file by default a temporary file, which is removed with this process
   * @throws {Fault} `usage` when the file cannot be written
   */
  static async open(file?: string): Promise<GradeFile> {
    const name = file ?? path.join(tmpdir(), `tandem-grades-${randomUUID()}.jsonl`);
    const handle = await openRegular(name, { flags: 'a+' }).catch((error: unknown) => {
      if (error instanceof Fault) throw error;
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
    const { end } = await scanLines(this.file, 0, (text, offset) => {
      const written = parsed(text.toString());
      if (written !== undefined)
        this.#places.set(written.line, { key: written.key, start: offset, length: text.length });
    });
    this.#end = end;
  }

  /** @throws {Fault} `usage` when the file holds the grade of something else for this line */
  has(line: number, key: string): boolean {
    const place = this.#places.get(line);
    if (place !== undefined && place.key !== key)
      throw wrongUse(
        `${this.file} holds the grade of another answer, task or mode for line ${line}. Name another file with --out, or remove it.`,
      );
    return place !== undefined;
  }

  /** Resolves when the grade is written. Grades are written one after the other. */
  add(line: number, key: string, grade: GradedLine): Promise<void> {
    const text = Buffer.from(JSON.stringify({ line, key, ...grade }));
    this.#writing = this.#writing.then(async () => {
      await this.handle.appendFile(Buffer.concat([text, LINE_FEED]));
      this.#places.set(line, { key, start: this.#end, length: text.length });
      this.#end += text.length + 1;
    });
    return this.#writing;
  }

  /** Each of these lines must be in the file. */
  async *read(lines: Iterable<number>): AsyncGenerator<GradedLine> {
    for (const each of lines) {
      const { start, length } = this.#places.get(each)!;
      const { buffer } = await this.handle.read({ buffer: Buffer.alloc(length), position: start });
      const { line: _, key: __, ...grade } = parsed(buffer.toString())!;
      yield grade;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing.catch(() => undefined); // `add` has rejected with this error already
    await this.handle.close();
  }
}

const LINE_FEED = Buffer.from('\n');

/** Digest of everything that a grade depends on. @param renderer what draws the page, of a task that is one */
export function gradeKey(task: unknown, answer: string, mode: GradingMode, renderer?: string): string {
  const what = JSON.stringify([task, answer, mode, graderVersion, ...(renderer ? [renderer] : [])]);
  return createHash('sha256').update(what).digest('hex').slice(0, 16);
}

/** Undefined for the incomplete line of an interrupted write. */
function parsed(text: string): Written | undefined {
  const value = jsonOrUndefined(text);
  return isWritten(value) ? value : undefined;
}

function isWritten(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && 'line' in value && 'key' in value && 'tests' in value;
}
