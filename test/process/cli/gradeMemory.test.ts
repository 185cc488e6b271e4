import { expect, it } from 'vitest';
import { gradeKey } from '../../../src/cli/gradeFile';
import { runNode, taskRow } from '../../fixtures/tasks';
import { commandFolder } from './tandem';

/** Size of the command's heap in megabytes. */
const MEGABYTES = 32;
/** Number of rows; their grades together exceed the heap. */
const ROWS = 100;
const TESTS = 5000;

const { file } = commandFolder();

it('tandem grade shows the grades of more rows than fit into memory', async () => {
  const task = taskRow();
  const answers = Array.from({ length: ROWS }, (_, n) => ({ id: `row-${n}`, task, answer: `# ${n}` }));
  const tests = Array.from({ length: TESTS }, () => ({ status: 'passed', milliseconds: 1.5 }));
  const grades = answers.map(({ id, answer }, index) => ({
    ...{ line: index + 1, key: gradeKey(task, answer, 'fixed'), id },
    ...{ mode: 'fixed', reward: 1, success: true, tests },
  }));
  const rows = await file('many.jsonl', answers);
  const out = await file('many-grades.jsonl', [...grades, '']);
  const limit = `--max-old-space-size=${MEGABYTES}`;
  const { code, stdout, stderr } = await runNode([limit, 'dist/tandem.js', 'grade', rows, '--out', out]);
  expect(code, stderr).toBe(0);
  const lines = stdout.trim().split('\n');
  const cells = lines.slice(1, -1).map((line) => line.split(/ +/));
  expect(cells).toEqual(answers.map(({ id }) => [id, `${TESTS}/${TESTS}`]));
});
