import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { messageOf } from '../core/fault';
import { graderVersion, type Grade, type GradingMode } from '../core/grading/grade';
import { readJsonLines } from '../core/task/jsonl';
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

/** A file that gets each grade as it comes, one a line, so that an interrupted `tandem grade` goes on where it was. */
export class GradeFile implements AsyncDisposable {
  #writing = Promise.resolve();

  private constructor(
    private readonly file: string,
    private readonly handle: FileHandle,
    private readonly before: ReadonlyMap<number, Written>,
  ) {}

  /**
   * Opens the file, and passes over what an interrupted write left of its last line, which is graded again.
   * @throws {Fault} `usage` when the file cannot be written
   */
  static async open(file: string): Promise<GradeFile> {
    const handle = await open(file, 'a+').catch((error: unknown) => {
      throw wrongUse(`The grades cannot be written to ${file}: ${messageOf(error)}.`);
    });
    const before = new Map<number, Written>();
    const { size } = await handle.stat();
    if (size > 0) {
      for await (const read of readJsonLines(file))
        if ('value' in read && isWritten(read.value)) before.set(read.value.line, read.value);
      const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: size - 1 });
      if (buffer.toString() !== '\n') await handle.appendFile('\n');
    }
    return new GradeFile(file, handle, before);
  }

  /** @throws {Fault} `usage` when the file holds the grade of something else for this line */
  found(line: number, key: string): GradedLine | undefined {
    const { line: _, key: given, ...grade } = this.before.get(line) ?? { line, key };
    if (given !== key)
      throw wrongUse(
        `${this.file} holds the grade of another answer, task or mode for line ${line}. Name another file with --out, or remove it.`,
      );
    return 'id' in grade ? grade : undefined;
  }

  /** Resolves when it is written; one grade after the other is. */
  add(line: number, key: string, grade: GradedLine): Promise<void> {
    const text = `${JSON.stringify({ line, key, ...grade })}\n`;
    this.#writing = this.#writing.then(() => this.handle.appendFile(text));
    return this.#writing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.handle.close();
  }
}

/** Changes with all that decides a grade. */
export function gradeKey(task: unknown, answer: string, mode: GradingMode): string {
  const what = JSON.stringify([task, answer, mode, graderVersion]);
  return createHash('sha256').update(what).digest('hex').slice(0, 16);
}

function isWritten(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && 'line' in value && 'key' in value && 'tests' in value;
}
