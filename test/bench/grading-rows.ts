/**
 * Runs `tandem grade --out` on a large file of rows, kills it by SIGKILL at half, restarts it and checks its table.
 * Reports the command's peak memory and the rows graded per second. The tasks are those of the handwritten pack, with
 * right, wrong and failing answers. With `--folder` an interrupted measurement continues.
 *
 * With `--copied` so many rows get the grades of equal tasks and answers among the first rows, as an earlier start
 * would have left them. This shows the memory that a large file needs without hours of grading.
 *
 *   npm run build && node test/bench/run.mjs grading-rows [--rows 200000] [--copied 0] [--folder FOLDER]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gradeKey } from '../../src/cli/commands/grade';
import { ifThere } from '../../src/core/trajectory/files';
import { starterPack } from '../fixtures/dialogue';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '200000' },
    copied: { type: 'string', default: '0' },
    folder: { type: 'string' },
  },
});
const [ROWS, COPIED] = [Number(values.rows), Number(values.copied)];
const folder = values.folder ?? (await mkdtemp(path.join(tmpdir(), 'tandem-grading-rows-')));
const fileOf = (name: string): string => path.join(folder, name);
const [rows, out, table] = [fileOf('rows.jsonl'), fileOf('grades.jsonl'), fileOf('table.txt')];

/** Returns an answer; one in three is right. */
const answerOf = (reference: string, n: number): string =>
  [reference, 'def wrong(*values):\n    return None', "raise ValueError('no answer')"][n % 3]!;

const tasks = (await readFile(starterPack, 'utf8'))
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { ground_truth: string });
/** Number of different rows; later ones repeat tasks and answers with another comment. */
const DIFFERENT = 3 * tasks.length;

function* madeRows(count: number): Generator<{ id: string; task: object; answer: string }> {
  for (let n = 0; n < count; n++) {
    const task = tasks[Math.floor(n / 3) % tasks.length]!;
    yield { id: `row-${n}`, task, answer: `${answerOf(task.ground_truth, n)}\n# ${n}` };
  }
}

async function write(file: string, lines: Iterable<object>): Promise<void> {
  const stream = createWriteStream(file);
  for (const line of lines) if (!stream.write(`${JSON.stringify(line)}\n`)) await once(stream, 'drain');
  stream.end();
  await once(stream, 'finish');
}

/** Grades the different rows with the command, and copies the grades to the following ones. */
async function copyGrades(): Promise<void> {
  const first = fileOf('first.jsonl');
  await write(first, madeRows(DIFFERENT));
  const { code } = await part(first, Infinity);
  if (code !== 0) throw new Error(`The rows to copy could not be graded: code ${code}.`);
  const grades: object[] = [];
  for await (const line of linesOf(out)) {
    const grade = JSON.parse(line) as { line: number };
    grades[grade.line - 1] = grade;
  }
  function* copies(): Generator<object> {
    let line = 0;
    for (const { id, task, answer } of madeRows(COPIED)) {
      line++;
      yield { ...grades[(line - 1) % DIFFERENT], line, key: gradeKey(task, answer, 'fixed'), id };
    }
  }
  await write(out, copies());
}

/** Yields the lines of a file; none when it is missing. */
async function* linesOf(file: string): AsyncGenerator<string> {
  if ((await ifThere(() => stat(file))) !== undefined) yield* createInterface(createReadStream(file));
}

async function count(lines: AsyncIterable<unknown>): Promise<number> {
  let found = 0;
  for await (const _ of lines) found++;
  return found;
}

interface Part {
  readonly code: number | null;
  readonly seconds: number;
  /** Peak memory of the command, without its grader's process. */
  readonly megabytes: number;
}

/** Runs the command, and kills it when its file has `killAt` grades. */
async function part(file: string, killAt: number): Promise<Part> {
  const begun = performance.now();
  const target = await open(table, 'w');
  const child = spawn(process.execPath, ['dist/tandem.js', 'grade', file, '--out', out], {
    stdio: ['ignore', target.fd, 'pipe'],
  });
  const exited = once(child, 'exit');
  createInterface(child.stderr!).on('line', (line) => {
    console.log(line);
    if (Number(/grade: (\d+)\//.exec(line)?.[1]) >= killAt) child.kill('SIGKILL');
  });
  let megabytes = 0;
  while (child.exitCode === null && child.signalCode === null) {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    megabytes = Math.max(megabytes, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
    await Promise.race([exited, pause(500)]);
  }
  await target.close();
  return { code: child.exitCode, seconds: (performance.now() - begun) / 1000, megabytes };
}

await mkdir(folder, { recursive: true });
if ((await count(linesOf(rows))) !== ROWS) await write(rows, madeRows(ROWS));
if ((await count(linesOf(out))) === 0 && COPIED > 0) await copyGrades();
let graded = await count(linesOf(out));
const half = COPIED + (ROWS - COPIED) / 2;
for (const killAt of graded < half ? [half, Infinity] : [Infinity]) {
  const { code, seconds, megabytes } = await part(rows, killAt);
  const now = await count(linesOf(out));
  console.log(
    `${now - graded} rows graded after ${graded}, ${((now - graded) / seconds).toFixed(0)}/s, ` +
      `at most ${megabytes.toFixed(0)} MB, ended with ${code ?? 'a kill'}`,
  );
  graded = now;
}

// The table must have each row once, in the order of the file, with the right reward.
let [row, wrong] = [0, 0];
let last = '';
for await (const line of linesOf(table)) {
  last = line;
  const [, number, passed, tests] = /^row-(\d+) +(\d+)\/(\d+)/.exec(line) ?? [];
  if (number === undefined) continue;
  if (Number(number) !== row || (passed === tests) !== (row % 3 === 0)) wrong++;
  row++;
}
const right = Math.ceil(ROWS / 3);
const isRight = row === ROWS && wrong === 0 && last.startsWith(`${right} of ${ROWS} answers pass all tests`);
console.log(`The table has ${row} rows, ${wrong} of them wrong, and ends: ${last}`);
if (!isRight) process.exitCode = 1;
else if (values.folder === undefined) await rm(folder, { recursive: true, force: true });
