import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { commandFolder, json, starterRows } from './tandem';

const { folder, file } = commandFolder();

const schema = z.object({
  rows: z.array(z.object({ id: z.string(), reward: z.number(), tests: z.array(z.unknown()) })),
  summary: z.looseObject({ badLines: z.array(z.object({ line: z.number() })) }),
});

it('tandem grade grades rows in their order, and continues after the grades that a file holds', async () => {
  const rows = await starterRows();
  const answers = rows.slice(0, 4).map((task, i) => ({
    id: i === 3 ? 3 : `answer-${i}`,
    task,
    answer: i === 2 ? 'def wrong():\n    pass' : `\`\`\`python\n${task.ground_truth}\n\`\`\``,
  }));
  const given = await file('answers.jsonl', [...answers, '{}']);
  const out = path.join(folder, 'grades.jsonl');
  const { rows: graded, summary } = await json(schema, 'grade', given, '--out', out);
  expect(graded.map(({ id, reward }) => [id, reward])).toEqual([
    ['answer-0', 1],
    ['answer-1', 1],
    ['answer-2', 0],
    ['3', 1],
  ]);
  expect(graded[0]!.tests).toHaveLength(10);
  expect(summary).toMatchObject({ answers: 4, success: 0.75, badLines: [{ line: 5 }] });

  // Existing grades are kept; a torn line is graded again.
  const lines = (await readFile(out, 'utf8')).trim().split('\n');
  const kept = lines.find((line) => line.includes('answer-0'))!.replace('"reward":1', '"reward":0.5');
  await writeFile(out, `${kept}\n${lines[1]!.slice(0, 40)}`);
  const again = await json(schema, 'grade', given, '--out', out);
  expect(again.rows.map(({ reward }) => reward)).toEqual([0.5, 1, 0, 1]);
});
