import * as z from 'zod';
import type { GradingMode } from '../../core/grading/grade';
import type { Grader } from '../../core/grading/grader';
import { wilson } from '../../core/evaluation/interval';
import { percent } from '../../core/evaluation/words';
import { Fault } from '../../core/fault';
import { readJsonLines } from '../../core/task/jsonl';
import { parseTask } from '../../core/task/row';
import type { Task } from '../../core/task/task';
import type { Install, CommandResult, CliContext } from '../command';
import { openGrader } from '../grader';
import { GradeFile, gradeKey, type GradedLine } from '../gradeFile';
import { inFlight } from '../../core/inFlight';
import { jobsOption, modeOption } from '../play';
import { startProgress, tableLine, widened } from '../terminal';

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
const answerRow = z.object({ id: z.string().optional(), task: z.unknown(), answer: z.string() });

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

/** Number of answers in flight, enough that the grader never waits for the file. */
const IN_FLIGHT = 64;

interface Grading {
  readonly grader: Grader;
  readonly mode: GradingMode;
  readonly grades: GradeFile;
  readonly signal: AbortSignal;
}

/**
 * Grades the rows that have no grade yet.
 * @returns the numbers of graded lines, and the bad lines
 */
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

/** Summary of all answers; `widths` are the column widths of their table. */
interface Counts {
  answers: number;
  graded: number;
  successes: number;
  /** Sum of the rewards. */
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

/** Yields the lines of the result, each made when it is printed. */
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
