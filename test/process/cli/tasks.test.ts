import { expect, it } from 'vitest';
import * as z from 'zod';
import { starterPack } from '../../fixtures/dialogue';
import { commandFolder, starterRows, tandem } from './tandem';

const { file } = commandFolder();

const weakSchema = z.object({ summary: z.object({ weakTests: z.array(z.object({ task: z.string() })) }) });

it('tandem tasks counts a pack and checks its references', async () => {
  const { stdout, code } = await tandem('tasks', starterPack, '--references');
  expect(code).toBe(0);
  expect(stdout).toMatch(/written-by-hand\.jsonl +32 +320 +32 +0/);
});

it('tandem tasks reports weak tests, and exits with 1 for bad lines and references that fail', async () => {
  const [row] = await starterRows();
  const signature = 'def parcel_price(weight_kg, zone):';
  const weak = await file('weak.jsonl', [{ ...row, ground_truth: `${signature}\n    return 7` }]);
  const { stdout: json, code: weakCode } = await tandem('tasks', weak, '--references', '--json');
  expect(weakSchema.parse(JSON.parse(json)).summary.weakTests).toMatchObject([{ task: 'parcel-surcharge' }]);
  expect(weakCode).toBe(0);

  const failing = { ...row, ground_truth: `${signature}\n    return 1 / 0` };
  const bad = await file('bad.jsonl', [failing, '{not json', { problem_description: 'Only this' }]);
  const { stdout, code } = await tandem('tasks', bad, '--references');
  expect(stdout).toMatch(/bad\.jsonl +1 +10 +1 +2/);
  expect(stdout).toMatch(/bad\.jsonl:2: /);
  expect(stdout).toMatch(/bad\.jsonl:3: .*ground_truth/);
  expect(stdout).toMatch(/reference of task parcel-surcharge: .*ZeroDivisionError/);
  expect(code).toBe(1);
});
