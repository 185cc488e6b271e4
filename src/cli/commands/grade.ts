import * as z from 'zod';
import type { BadLine } from '../../core/task/pack';
import { draftsOf } from '../../core/dialogue/drafts';
import { meanFigure, wilson } from '../../core/evaluation/interval';
import { keyOf, type PageScale } from '../../core/evaluation/pages/pageFigures';
import { pageScoreInWords, estimate } from '../../core/evaluation/words';
import { Fault } from '../../core/fault';
import type { Grade, GradingMode } from '../../core/grading/grade';
import type { Grader } from '../../core/grading/grader';
import { gradePage } from '../../core/grading/page';
import type { ClipEmbedder } from '../../core/model/local/clip/embedder';
import type { BrowserPages } from '../../core/rendering/browserPages';
import { readJsonLines } from '../../core/task/jsonl';
import { parseTask } from '../../core/task/row';
import { isProgram, type Task } from '../../core/task/task';
import type { Install, CommandResult, CliContext } from '../command';
import { GradeFile, gradeKey, type GradedLine } from '../gradeFile';
import { openClip, openGrader, openPages, Opened, type PageOptions } from '../resources';
import { inFlight } from '../../core/concurrency';
import { addPageOptions, jobsOption, modeOption } from '../play';
import { Progress, tableLine, widened } from '../terminal';
import { taskOf } from '../../core/trajectory/publishedRow';

interface Options extends PageOptions {
  readonly mode: GradingMode;
  readonly jobs?: number;
  readonly out?: string;
}

type Row = GradedLine;

export const installGrade: Install = (program, perform) => {
  const command = program
    .command('grade')
    .description('grade answers: rows with a task and an answer, or published trajectory rows')
    .argument('<file>', 'JSON lines {task, answer}')
    .addOption(modeOption())
    .addOption(jobsOption())
    .option(
      '--out <file>',
      'write each grade to this file as it comes; run again, the command continues after the rows already there',
    );
  addPageOptions(command).action(perform(gradeFile));
};

/** Fields of both forms of rows; `task` is a ColBench row. Faults of the reference are reported in the grade. */
const answerRow = z.object({
  // pandas makes numbers of ids that look like some.
  id: z.union([z.string(), z.number().transform(String)]).nullish(),
  task: z.unknown(),
  answer: z.string(),
});

async function gradeFile(file: string, options: Options, to: CliContext): Promise<CommandResult> {
  const { mode } = options;
  const { assets, signal } = to;
  await using opened = new Opened();
  const grader = opened.add(await openGrader({ assets, workers: options.jobs }));
  const pages = opened.add(openPages(to, options.browser));
  let embedder: ClipEmbedder | undefined;
  // Functions need no CLIP.
  const clip = (): ClipEmbedder => (embedder ??= opened.add(openClip(to, options.clip)));
  const grades = await GradeFile.open(options.out);
  try {
    const { lines, bad } = await gradeRows(file, { grader, pages, clip, mode, grades, signal });
    const counts = await countsOf(grades.read(lines));
    return {
      rows: { [Symbol.asyncIterator]: () => grades.read(lines) },
      summary: { ...summaryOf(counts), mode, badLines: bad },
      print: () => inWords(() => grades.read(lines), counts, bad, mode),
      failed: bad.length > 0,
      close: () => grades[Symbol.asyncDispose](),
    };
  } catch (error) {
    await grades[Symbol.asyncDispose]();
    throw error;
  }
}

/** Enough answers that the grader never waits for the file. */
const IN_FLIGHT = 64;

interface Grading {
  readonly grader: Grader;
  readonly pages: BrowserPages;
  /** @throws {Fault} `model/no-folder` */
  readonly clip: () => ClipEmbedder;
  readonly mode: GradingMode;
  readonly grades: GradeFile;
  readonly signal: AbortSignal;
}

/** Skips rows that have a grade. */
async function gradeRows(file: string, grading: Grading): Promise<{ lines: number[]; bad: BadLine[] }> {
  const { grades, signal } = grading;
  const lines: number[] = [];
  const bad: BadLine[] = [];
  using progress = new Progress('grade', 'answers');
  let begun = 0;
  let done = 0;
  await inFlight(readJsonLines(file, { signal }), IN_FLIGHT, async (read) => {
    begun++;
    const { line } = read;
    const row = 'reason' in read ? read.reason : await parseRow(read.value, line, grading);
    if (typeof row === 'string') bad.push({ file, line, reason: row });
    else {
      lines.push(line);
      const { id, key } = row;
      if (!grades.has(line, key)) await grades.add(line, key, { id, ...(await gradeOf(row, grading)) });
    }
    progress.update(++done, begun);
  });
  return { lines, bad };
}

function gradeOf(
  { task, answer }: AnswerRow,
  { grader, pages, clip, mode, signal }: Grading,
): Promise<Grade> {
  if (isProgram(task)) return grader.grade(task, answer, { mode, signal });
  const drafts = draftsOf([{ agent: { turn: 1, text: answer } }]);
  return gradePage(task, drafts, mode, pages, mode === 'paper' ? clip() : undefined);
}

interface AnswerRow {
  readonly id: string;
  readonly task: Task;
  readonly answer: string;
  readonly key: string;
}

/** Also a sentence where the page of a row cannot be scored here. */
async function parseRow(value: unknown, line: number, grading: Grading): Promise<AnswerRow | string> {
  const row = answerRow.safeParse(value);
  if (!row.success) return 'The row needs a "task" (a ColBench row) and an "answer" (text).';
  try {
    const { id, answer } = row.data;
    const given = taskOf(row.data.task, value);
    const task = parseTask(given);
    const renderer = await rendererOf(task, grading);
    return {
      id: id ?? `${task.id}:${line}`,
      task,
      answer,
      key: gradeKey(given, answer, grading.mode, renderer),
    };
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** Undefined for a function. @throws {Fault} `page/no-browser`, `model/no-folder` */
async function rendererOf(task: Task, { mode, pages, clip }: Grading): Promise<string | undefined> {
  if (isProgram(task)) return undefined;
  if (mode === 'paper') return `${await pages.name()} ${clip().precision}`;
  return task.checks === undefined ? pages.name() : 'none';
}

interface Counts {
  answers: number;
  notGradable: number;
  /** Graded answers that are functions. */
  graded: number;
  successes: number;
  reward: number;
  /** By their scale: scores of two are never mixed. */
  readonly pages: Map<string, ScoredPages>;
  readonly widths: number[];
}

interface ScoredPages {
  readonly scale: PageScale;
  readonly scores: number[];
}

const HEAD = ['answer', 'tests or score', ''];

async function countsOf(rows: AsyncIterable<Row>): Promise<Counts> {
  const counts: Counts = {
    ...{ answers: 0, notGradable: 0, graded: 0, successes: 0, reward: 0 },
    ...{ pages: new Map(), widths: widened([], HEAD) },
  };
  for await (const row of rows) {
    counts.answers += 1;
    widened(counts.widths, cellsOf(row));
    const { mode, reward, success, page } = row;
    if (reward === null) counts.notGradable += 1;
    else if (page === undefined) {
      counts.graded += 1;
      counts.reward += reward;
      if (success === true) counts.successes += 1;
    } else {
      const { measure, version, renderer } = page;
      const scale = { mode, measure, version, renderer };
      const known = counts.pages.get(keyOf(scale));
      if (known === undefined) counts.pages.set(keyOf(scale), { scale, scores: [page.score] });
      else known.scores.push(page.score);
    }
  }
  return counts;
}

function summaryOf({ answers, notGradable, graded, successes, reward, pages }: Counts): object {
  const mean = (sum: number): number => (graded === 0 ? 0 : sum / graded);
  return {
    answers,
    graded: answers - notGradable,
    notGradable,
    success: mean(successes),
    successInterval: wilson(mean(successes), graded),
    testsPassed: mean(reward),
    ...(pages.size > 0 && {
      pages: [...pages.values()].map((one) => ({
        ...one.scale,
        answers: one.scores.length,
        score: meanFigure(one.scores),
      })),
    }),
  };
}

async function* inWords(
  rows: () => AsyncIterable<Row>,
  { graded, successes, pages, widths }: Counts,
  bad: readonly BadLine[],
  mode: GradingMode,
): AsyncGenerator<string> {
  yield tableLine(HEAD, widths);
  for await (const row of rows()) yield tableLine(cellsOf(row), widths);
  const rate = graded === 0 ? 0 : successes / graded;
  if (graded === 0 && pages.size === 0) yield 'No answer could be graded here.';
  if (graded > 0)
    yield `${successes} of ${graded} answers pass all tests: ${estimate({ mean: rate, interval: wilson(rate, graded) })}, mode ${mode}.`;
  for (const one of pages.values())
    yield `Mean ${pageScoreInWords({ ...one.scale, tasks: one.scores.length, score: meanFigure(one.scores) })}.`;
  for (const { file, line, reason } of bad) yield `${file}:${line}: ${reason}`;
}

const cellsOf = (row: Row): string[] => [row.id, outcome(row), row.notGradable ?? firstTrouble(row)];

function outcome({ tests, page }: Row): string {
  if (page !== undefined) return page.score.toFixed(3);
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
