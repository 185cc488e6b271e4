import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { gradeKey } from '../../../src/cli/gradeFile';
import { runNode, taskRow } from '../../fixtures/tasks';

// What else `tandem grade` does is in commands.test.ts.

/** The command's heap holds this much. */
const MEGABYTES = 32;
/** The grades of so many rows with so many tests each do not go into it together. */
const ROWS = 100;
const TESTS = 5000;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-grade-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

async function linesIn(name: string, lines: readonly object[]): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

it('never says that more answers are graded than it has read, in whatever order they come to an end', async () => {
  const bodies = ['while True: pass', 'return 1', 'return 2', 'return 3', 'return 4'];
  const answers = bodies.map((body) => ({
    task: taskRow(),
    answer: `def parcel_fee(grams):\n    ${body}`,
  }));
  const rows = await linesIn('rows.jsonl', answers);
  const { stderr } = await runNode(['dist/tandem.js', 'grade', rows, '--jobs', '2']);
  const said = [...stderr.matchAll(/grade: (\d+)\/(\d+) answers/g)];
  for (const [text, done, read] of said) expect(Number(done), text).toBeLessThanOrEqual(Number(read));
  expect(said.at(-1)?.[0]).toBe('grade: 5/5 answers');
});

it('shows the grades of more rows than go into memory', async () => {
  const task = taskRow();
  const answers = Array.from({ length: ROWS }, (_, n) => ({ id: `row-${n}`, task, answer: `# ${n}` }));
  const tests = Array.from({ length: TESTS }, () => ({ status: 'passed', milliseconds: 1.5 }));
  const grades = answers.map(({ id, answer }, index) => ({
    ...{ line: index + 1, key: gradeKey(task, answer, 'fixed'), id },
    ...{ mode: 'fixed', reward: 1, success: true, tests },
  }));
  const rows = await linesIn('rows.jsonl', answers);
  const out = await linesIn('grades.jsonl', grades);
  const { code, stdout, stderr } = await runNode([
    ...[`--max-old-space-size=${MEGABYTES}`, 'dist/tandem.js', 'grade', rows, '--out', out],
  ]);
  expect(code, stderr).toBe(0);
  const lines = stdout.trim().split('\n');
  expect(lines.slice(1, -1)).toEqual(answers.map(({ id }) => `${id.padEnd(6)}  ${TESTS}/${TESTS}`));
  expect(lines.at(-1)).toMatch(/^100 of 100 answers pass all tests/);
});
