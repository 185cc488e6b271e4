import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { gradeKey } from '../../../src/cli/gradeFile';
import { runNode, taskRow } from '../../fixtures/tasks';

// What else `tandem grade` does is in commands.test.ts.

/** The command's heap holds this much. */
const MEGABYTES = 32;
/** The grades of so many rows with so many tests each do not go into it together. */
const ROWS = 100;
const TESTS = 5000;

it('shows the grades of more rows than go into memory', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-grade-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [rows, out] = ['rows.jsonl', 'grades.jsonl'].map((name) => path.join(folder, name));
  const task = taskRow();
  const answers = Array.from({ length: ROWS }, (_, n) => ({ id: `row-${n}`, task, answer: `# ${n}` }));
  const tests = Array.from({ length: TESTS }, () => ({ status: 'passed', milliseconds: 1.5 }));
  const grades = answers.map(({ id, answer }, index) => ({
    ...{ line: index + 1, key: gradeKey(task, answer, 'fixed'), id },
    ...{ mode: 'fixed', reward: 1, success: true, tests },
  }));
  for (const [file, lines] of [
    [rows!, answers],
    [out!, grades],
  ] as const)
    await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { code, stdout, stderr } = await runNode([
    ...[`--max-old-space-size=${MEGABYTES}`, 'dist/tandem.js', 'grade', rows!, '--out', out!],
  ]);
  expect(code, stderr).toBe(0);
  const lines = stdout.trim().split('\n');
  expect(lines.slice(1, -1)).toEqual(answers.map(({ id }) => `${id.padEnd(6)}  ${TESTS}/${TESTS}`));
  expect(lines.at(-1)).toMatch(/^100 of 100 answers pass all tests/);
});
