import { appendFile, mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { GradeFile, type GradedLine } from '../../../src/cli/gradeFile';

/** Makes a graded line so long that one read holds only a few. */
const grade = (line: number, letters = 20_000): GradedLine => ({
  id: `answer-${line}`,
  mode: 'fixed',
  reward: 0,
  success: false,
  tests: [{ status: 'wrong', expected: 'ä', got: 'ö'.repeat(letters), milliseconds: 1 }],
});
const key = (line: number): string => `key-${line}`;

let file: string;

beforeEach(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-grade-file-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  file = path.join(folder, 'grades.jsonl');
});

async function all(grades: GradeFile, lines: readonly number[]): Promise<GradedLine[]> {
  return Array.fromAsync(grades.read(lines));
}

it.each(['a file with a name', 'a temporary file'])(
  '%s gives grades back in the order in which they are asked for, however they came',
  async (what) => {
    await using grades = await GradeFile.open(what.includes('name') ? file : undefined);
    const lines = Array.from({ length: 60 }, (_, index) => index + 1);
    const shuffled = lines.toSorted((a, b) => ((a * 37) % 61) - ((b * 37) % 61));
    await Promise.all(shuffled.map((line) => grades.add(line, key(line), grade(line))));
    expect(await all(grades, lines)).toEqual(lines.map((line) => grade(line)));
    expect(await all(grades, shuffled)).toEqual(shuffled.map((line) => grade(line)));
  },
);

it('what was written before is there again, and what an interrupted write left is not', async () => {
  {
    await using grades = await GradeFile.open(file);
    for (const line of [2, 1, 3]) await grades.add(line, key(line), grade(line, 5));
  }
  await truncate(file, (await readFile(file)).length - 30);
  await using grades = await GradeFile.open(file);
  expect([1, 2, 3].map((line) => grades.has(line, key(line)))).toEqual([true, true, false]);
  await grades.add(3, key(3), grade(3, 7));
  expect(await all(grades, [1, 2, 3])).toEqual([grade(1, 5), grade(2, 5), grade(3, 7)]);
});

it('the grade of another answer is refused', async () => {
  await appendFile(file, `${JSON.stringify({ line: 1, key: 'other', ...grade(1, 5) })}\n`);
  await using grades = await GradeFile.open(file);
  expect(() => grades.has(1, key(1))).toThrow(/holds the grade of another answer, task or mode for line 1/);
});
