/**
 * `tandem grade --out` with a large file of rows: killed by SIGKILL at half, started again, and its table checked, with the most
 * memory that the command held and the rows per second of what was graded anew. The tasks are those of the starter pack,
 * each answered rightly, wrongly, and by code that fails. With `--folder` a measurement goes on where it was interrupted.
 *
 *   npm run build && node test/bench/run.mjs grading-rows [--rows 200000] [--folder FOLDER]
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
import { ifThere } from '../../src/core/trajectory/files';
import { starterPack } from '../fixtures/dialogue';

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '200000' }, folder: { type: 'string' } },
});
const ROWS = Number(values.rows);
const folder = values.folder ?? (await mkdtemp(path.join(tmpdir(), 'tandem-grading-rows-')));
const [rows, out, table] = ['rows.jsonl', 'grades.jsonl', 'table.txt'].map((name) => path.join(folder, name));

/** One in three is right. */
const answerOf = (reference: string, n: number): string =>
  [reference, 'def wrong(*values):\n    return None', `raise ValueError(${n})`][n % 3]!;

async function writeRows(): Promise<void> {
  const tasks = (await readFile(starterPack, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { ground_truth: string });
  const file = createWriteStream(rows!);
  for (let n = 0; n < ROWS; n++) {
    const task = tasks[Math.floor(n / 3) % tasks.length]!;
    const answer = `${answerOf(task.ground_truth, n)}\n# ${n}`;
    if (!file.write(`${JSON.stringify({ id: `row-${n}`, task, answer })}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}

/** The lines of a file; none when it is not there. */
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
  /** The most that the command had in memory at once, without its grader's process. */
  readonly megabytes: number;
}

/** Runs the command, and kills it when its file has so many grades. */
async function part(killAt: number): Promise<Part> {
  const begun = performance.now();
  const target = await open(table!, 'w');
  const child = spawn(process.execPath, ['dist/tandem.js', 'grade', rows!, '--out', out!], {
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
if ((await count(linesOf(rows!))) !== ROWS) await writeRows();
const before = await count(linesOf(out!));
let graded = before;
for (const killAt of before < ROWS / 2 ? [ROWS / 2, Infinity] : [Infinity]) {
  const { code, seconds, megabytes } = await part(killAt);
  const now = await count(linesOf(out!));
  console.log(
    `${now - graded} rows graded after ${graded}, ${((now - graded) / seconds).toFixed(0)}/s, ` +
      `at most ${megabytes.toFixed(0)} MB, ended with ${code ?? 'a kill'}`,
  );
  graded = now;
}

// The table has each row once, in the order of the file, with what the answer deserves.
let [row, wrong] = [0, 0];
let last = '';
for await (const line of linesOf(table!)) {
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
