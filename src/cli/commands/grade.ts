import { createHash, randomUUID } from 'node:crypto';
import { rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { type GradingMode, graderVersion, type Grade } from '../../core/grading/grade';
import type { Grader } from '../../core/grading/grader';
import { wilson } from '../../core/evaluation/interval';
import { percent } from '../../core/evaluation/words';
import { Fault, messageOf } from '../../core/fault';
import { jsonOrUndefined } from '../../core/json';
import { openRegular } from '../../core/regularFile';
import { readJsonLines } from '../../core/task/jsonl';
import { parseProgram } from '../../core/task/row';
import type { ProgramTask } from '../../core/task/task';
import { type Install, type CommandResult, type CliContext, wrongUse } from '../command';
import { openGrader } from '../resources';
import { inFlight } from '../../core/concurrency';
import { jobsOption, modeOption } from '../play';
import { startProgress, tableLine, widened } from '../terminal';
import { taskOf } from '../../core/trajectory/publishedRow';
import { scanLines } from '../../core/trajectory/segment/scan';

interface Options {
  readonly mode: GradingMode;
  readonly jobs?: number;
  readonly out?: string;
}

type Row = GradedLine;

interface BadLine {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

export const installGrade: Install = (program, perform) => {
  program
    .command('grade')
    .description('grade answers: rows with a task and an answer, or published trajectory rows')
    .argument('<file>', 'JSON lines {task, answer}')
    .addOption(modeOption())
    .addOption(jobsOption())
    .option(
      '--out <file>',
      'write each grade to this file as it comes; run again, the command continues after the rows already there',
    )
    .action((file: string, options: Options) => perform((to) => gradeFile(file, options, to)));
};

/** Fields of both forms of rows; `task` is a ColBench row. Faults of the reference are reported in the grade. */
const answerRow = z.object({
  // pandas makes numbers of ids that look like some.
  id: z.union([z.string(), z.number().transform(String)]).nullish(),
  task: z.unknown(),
  answer: z.string(),
});

async function gradeFile(
  file: string,
  options: Options,
  { assets, signal }: CliContext,
): Promise<CommandResult> {
  const { mode } = options;
  const grader = await openGrader({ assets, workers: options.jobs });
  try {
    await using opened = new AsyncDisposableStack();
    const grades = opened.use(await GradeFile.open(options.out));
    const { lines, bad } = await gradeRows(file, { grader, mode, grades, signal });
    const counts = await countsOf(grades.read(lines));
    const open = opened.move();
    return {
      rows: { [Symbol.asyncIterator]: () => grades.read(lines) },
      summary: { ...summaryOf(counts), mode, badLines: bad },
      print: () => inWords(() => grades.read(lines), counts, bad, mode),
      failed: bad.length > 0,
      close: () => open.disposeAsync(),
    };
  } finally {
    await grader.close();
  }
}

/** Enough answers that the grader never waits for the file. */
const IN_FLIGHT = 64;

interface Grading {
  readonly grader: Grader;
  readonly mode: GradingMode;
  readonly grades: GradeFile;
  readonly signal: AbortSignal;
}

/** Skips rows that have a grade. */
async function gradeRows(
  file: string,
  { grader, mode, grades, signal }: Grading,
): Promise<{ lines: number[]; bad: BadLine[] }> {
  const lines: number[] = [];
  const bad: BadLine[] = [];
  const progress = startProgress('grade', 'answers');
  let begun = 0;
  let done = 0;
  try {
    await inFlight(readJsonLines(file, { signal }), IN_FLIGHT, async (read) => {
      begun++;
      const { line } = read;
      const row = 'reason' in read ? read.reason : parseRow(read.value, line, mode);
      if (typeof row === 'string') bad.push({ file, line, reason: row });
      else {
        lines.push(line);
        const { id, task, answer, key } = row;
        if (!grades.has(line, key))
          await grades.add(line, key, { id, ...(await grader.grade(task, answer, { mode, signal })) });
      }
      progress.update(++done, begun);
    });
  } finally {
    progress.end();
  }
  return { lines, bad };
}

interface AnswerRow {
  readonly id: string;
  readonly task: ProgramTask;
  readonly answer: string;
  readonly key: string;
}

function parseRow(value: unknown, line: number, mode: GradingMode): AnswerRow | string {
  const row = answerRow.safeParse(value);
  if (!row.success) return 'The row needs a "task" (a ColBench row) and an "answer" (text).';
  try {
    const { id, answer } = row.data;
    const given = taskOf(row.data.task, value);
    const task = parseProgram(given);
    return { id: id ?? `${task.id}:${line}`, task, answer, key: gradeKey(given, answer, mode) };
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

interface Counts {
  answers: number;
  graded: number;
  successes: number;
  reward: number;
  readonly widths: number[];
}

const HEAD = ['answer', 'tests', ''];

async function countsOf(rows: AsyncIterable<Row>): Promise<Counts> {
  const counts: Counts = { answers: 0, graded: 0, successes: 0, reward: 0, widths: widened([], HEAD) };
  for await (const row of rows) {
    counts.answers += 1;
    widened(counts.widths, cellsOf(row));
    if (row.reward === null) continue;
    counts.graded += 1;
    counts.reward += row.reward;
    if (row.success === true) counts.successes += 1;
  }
  return counts;
}

function summaryOf({ answers, graded, successes, reward }: Counts): object {
  const mean = (sum: number): number => (graded === 0 ? 0 : sum / graded);
  return {
    answers,
    graded,
    notGradable: answers - graded,
    success: mean(successes),
    successInterval: wilson(mean(successes), graded),
    testsPassed: mean(reward),
  };
}

async function* inWords(
  rows: () => AsyncIterable<Row>,
  { graded, successes, widths }: Counts,
  bad: readonly BadLine[],
  mode: GradingMode,
): AsyncGenerator<string> {
  yield tableLine(HEAD, widths);
  for await (const row of rows()) yield tableLine(cellsOf(row), widths);
  const rate = graded === 0 ? 0 : successes / graded;
  const { low, high } = wilson(rate, graded);
  yield graded === 0
    ? 'No answer could be graded here.'
    : `${successes} of ${graded} answers pass all tests: ${percent(rate)} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}], mode ${mode}.`;
  for (const { file, line, reason } of bad) yield `${file}:${line}: ${reason}`;
}

const cellsOf = (row: Row): string[] => [row.id, outcome(row), row.notGradable ?? firstTrouble(row)];

function outcome({ tests }: Row): string {
  const countable = tests.filter(({ status }) => status !== 'not-gradable');
  return `${countable.filter(({ status }) => status === 'passed').length}/${countable.length}`;
}

function firstTrouble({ tests }: Row): string {
  const index = tests.findIndex(({ status }) => status !== 'passed');
  const test = tests[index];
  if (test === undefined) return '';
  const about = `test ${index + 1}: `;
  switch (test.status) {
    case 'wrong':
      return `${about}expected ${test.expected}, got ${test.got}`;
    case 'error':
      return `${about}${test.type}: ${test.message}${test.line === undefined ? '' : ` (line ${test.line})`}`;
    case 'timed-out':
      return `${about}timed out after ${Math.round(test.limitMilliseconds)} ms`;
    case 'not-gradable':
      return `${about}${test.reason}`;
    case 'passed':
      return '';
  }
}

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

/** Read at once, because grades that are read in succession mostly lie close together. */
const WINDOW_BYTES = 256 * 1024;

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
    const { end } = await scanLines(this.file, 0, (buffer, start, stop, offset) => {
      const written = parsed(buffer.toString('utf8', start, stop));
      if (written === undefined) return;
      const { line, key } = written;
      this.#places.set(line, { key, start: offset, length: stop - start });
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

/** Digest of everything that a grade depends on. */
export function gradeKey(task: unknown, answer: string, mode: GradingMode): string {
  const what = JSON.stringify([task, answer, mode, graderVersion]);
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
