import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { gradeKey } from '../../../src/cli/commands/grade';
import { runNode, taskRow } from '../../fixtures/tasks';
import { commandFolder, json, starterRows, tandem } from './tandem';

/** Size of the command's heap in megabytes. */
const MEGABYTES = 32;
/** Number of rows; their grades together exceed the heap. */
const ROWS = 100;
const TESTS = 5000;

const { folder, file } = commandFolder();

describe('tandem grade', () => {
  const schema = z.object({
    rows: z.array(
      z.object({ id: z.string(), reward: z.number(), success: z.boolean(), tests: z.array(z.unknown()) }),
    ),
    summary: z.object({
      answers: z.number(),
      success: z.number(),
      badLines: z.array(z.object({ line: z.number() })),
    }),
  });

  it('grades rows with a task and an answer, in their order', async () => {
    const rows = await starterRows();
    const answered = rows.slice(0, 4).map((task, i) => ({
      id: `answer-${i}`,
      task,
      answer: i === 2 ? 'def wrong():\n    pass' : `\`\`\`python\n${task.ground_truth}\n\`\`\``,
    }));
    const { rows: graded, summary } = await json(
      schema,
      'grade',
      await file('answers.jsonl', [...answered, '{}']),
    );
    expect(graded.map(({ id, reward }) => [id, reward])).toEqual([
      ['answer-0', 1],
      ['answer-1', 1],
      ['answer-2', 0],
      ['answer-3', 1],
    ]);
    expect(graded[0]!.tests).toHaveLength(10);
    expect(summary).toMatchObject({ answers: 4, success: 0.75, badLines: [{ line: 5 }] });
  });

  it('writes each grade as it comes, and goes on after those that a file holds', async () => {
    const [task] = await starterRows();
    const answers = (last: string): object[] =>
      ['right', 'wrong', last].map((id) => ({
        ...{ id, task, answer: id === 'right' ? task!.ground_truth : `def ${id}():\n    pass` },
      }));
    const given = await file('given.jsonl', answers('last'));
    const out = path.join(folder, 'grades.jsonl');
    await json(schema, 'grade', given, '--out', out);
    const lines = (await readFile(out, 'utf8')).trim().split('\n').sort();
    expect(lines.map((line) => (JSON.parse(line) as { reward: number }).reward).sort()).toEqual([0, 0, 1]);

    // Existing grades are kept; a torn line is graded again.
    const kept = lines.find((line) => line.includes('"right"'))!.replace('"reward":1', '"reward":0.5');
    await writeFile(out, `${kept}\n${lines[0]!.slice(0, 40)}`);
    const { rows } = await json(schema, 'grade', given, '--out', out);
    expect(rows.map(({ reward }) => reward)).toEqual([0.5, 0, 0]);
    const whole = (await readFile(out, 'utf8')).trim().split('\n');
    expect(whole).toHaveLength(4);

    const { code, stderr } = await tandem('grade', await file('other.jsonl', answers('other')), '--out', out);
    expect(code).toBe(2);
    expect(stderr).toContain('holds the grade of another answer, task or mode for line 3.');
    expect((await readFile(out, 'utf8')).trim().split('\n')).toEqual(whole);
  });

  it('never says that more answers are graded than it has read, in whatever order they come to an end', async () => {
    const bodies = ['while True: pass', 'return 1', 'return 2', 'return 3', 'return 4'];
    const answers = bodies.map((body) => ({
      task: taskRow(),
      answer: `def parcel_fee(grams):\n    ${body}`,
    }));
    const rows = await file('rows.jsonl', answers);
    const { stderr } = await tandem('grade', rows, '--jobs', '2');
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
    const rows = await file('many.jsonl', answers);
    const out = await file('many-grades.jsonl', [...grades, '']);
    const { code, stdout, stderr } = await runNode([
      ...[`--max-old-space-size=${MEGABYTES}`, 'dist/tandem.js', 'grade', rows, '--out', out],
    ]);
    expect(code, stderr).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines.slice(1, -1)).toEqual(answers.map(({ id }) => `${id.padEnd(6)}  ${TESTS}/${TESTS}`));
    expect(lines.at(-1)).toMatch(/^100 of 100 answers pass all tests/);
  });
});
