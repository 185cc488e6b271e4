import * as z from 'zod';
import type { GradingMode } from '../../core/grading/grade';
import type { Grader } from '../../core/grading/grader';
import { wilson } from '../../core/evaluation/interval';
import { percent } from '../../core/evaluation/words';
import { Fault } from '../../core/fault';
import { readJsonLines } from '../../core/task/jsonl';
import { parseTask } from '../../core/task/row';
import type { Task } from '../../core/task/task';
import type { Install, Outcome, Surroundings } from '../command';
import { openGrader } from '../grader';
import { GradeFile, gradeKey, type GradedLine } from '../gradeFile';
import { inFlight } from '../../core/inFlight';
import { jobsOption, modeOption } from '../play';
import { startProgress, table } from '../terminal';

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
      'write each grade there as it comes; the same command goes on after what it holds already',
    )
    .action((file: string, options: Options) => perform((to) => gradeFile(file, options, to)));
};

/** Both forms have these; the task is a ColBench row. Reference failures and other trouble are in the grade. */
const answerRow = z.object({ id: z.string().optional(), task: z.unknown(), answer: z.string() });

async function gradeFile(file: string, options: Options, { assets, signal }: Surroundings): Promise<Outcome> {
  const grader = await openGrader({ assets, workers: options.jobs });
  try {
    await using out = options.out === undefined ? undefined : await GradeFile.open(options.out);
    const { rows, bad } = await gradeRows(file, { grader, mode: options.mode, out, signal });
    return {
      rows,
      summary: { ...summarize(rows), mode: options.mode, badLines: bad },
      print: () => inWords(rows, bad, options.mode),
      failed: bad.length > 0,
    };
  } finally {
    await grader.close();
  }
}

/** Reads ahead of the grader only so far that it never waits. */
const IN_FLIGHT = 64;

interface Grading {
  readonly grader: Grader;
  readonly mode: GradingMode;
  readonly out: GradeFile | undefined;
  readonly signal: AbortSignal;
}

async function gradeRows(
  file: string,
  { grader, mode, out, signal }: Grading,
): Promise<{ rows: Row[]; bad: BadLine[] }> {
  const grade = async (line: number, { id, task, answer, key }: AnswerRow): Promise<Row> => {
    const found = out?.found(line, key);
    if (found !== undefined) return found;
    const row = { id, ...(await grader.grade(task, answer, { mode, signal })) };
    await out?.add(line, key, row);
    return row;
  };
  const graded: (Row | undefined)[] = [];
  const bad: BadLine[] = [];
  const progress = startProgress('grade', 'answers');
  let done = 0;
  try {
    await inFlight(readJsonLines(file, { signal }), IN_FLIGHT, async (read, index) => {
      const { line } = read;
      const row = 'reason' in read ? read.reason : parseRow(read.value, line, mode);
      if (typeof row === 'string') bad.push({ file, line, reason: row });
      else graded[index] = await grade(line, row);
      progress.update(++done, index + 1);
    });
  } finally {
    progress.end();
  }
  return { rows: graded.filter((row) => row !== undefined), bad };
}

interface AnswerRow {
  readonly id: string;
  readonly task: Task;
  readonly answer: string;
  readonly key: string;
}

function parseRow(value: unknown, line: number, mode: GradingMode): AnswerRow | string {
  const row = answerRow.safeParse(value);
  if (!row.success) return 'The row needs a "task" (a ColBench row) and an "answer" (text).';
  try {
    const { id, answer } = row.data;
    const task = parseTask(row.data.task);
    return { id: id ?? `${task.id}:${line}`, task, answer, key: gradeKey(row.data.task, answer, mode) };
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

function summarize(rows: readonly Row[]): object {
  const graded = rows.filter((row) => row.reward !== null);
  const mean = (value: (row: Row) => number): number =>
    graded.length === 0 ? 0 : graded.reduce((sum, row) => sum + value(row), 0) / graded.length;
  const success = mean((row) => Number(row.success));
  return {
    answers: rows.length,
    graded: graded.length,
    notGradable: rows.length - graded.length,
    success,
    successInterval: wilson(success, graded.length),
    testsPassed: mean((row) => row.reward!),
  };
}

function inWords(rows: readonly Row[], bad: readonly BadLine[], mode: GradingMode): string {
  const graded = rows.filter((row) => row.reward !== null);
  const successes = graded.filter((row) => row.success === true).length;
  const rate = graded.length === 0 ? 0 : successes / graded.length;
  const { low, high } = wilson(rate, graded.length);
  const shown = rows.map((row) => [row.id, outcome(row), row.notGradable ?? firstTrouble(row)]);
  return [
    table([['answer', 'tests', ''], ...shown]),
    graded.length === 0
      ? 'No answer could be graded here.'
      : `${successes} of ${graded.length} answers pass all tests: ${percent(rate)} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}], mode ${mode}.`,
    ...bad.map(({ file, line, reason }) => `${file}:${line}: ${reason}`),
  ].join('\n');
}

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
