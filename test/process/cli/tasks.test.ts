import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { starterPack } from '../../fixtures/dialogue';
import { commandFolder, json, starterRows, tandem } from './tandem';

const { file } = commandFolder();

describe('tandem tasks', () => {
  const weakSchema = z.object({
    summary: z.object({ weakTests: z.array(z.object({ task: z.string(), reasons: z.array(z.string()) })) }),
  });

  it('counts a pack and checks its references', async () => {
    const { stdout, code } = await tandem('tasks', starterPack, '--references');
    expect(code).toBe(0);
    expect(stdout).toMatch(/written-by-hand\.jsonl +32 +320 +32 +0/);
  });

  it('names file, line and reason of bad lines, counts the good ones and exits with 1', async () => {
    const [good] = await starterRows();
    const pack = await file('bad.jsonl', [good, '{not json', { problem_description: 'Only this' }]);
    const { stdout, code } = await tandem('tasks', pack);
    expect(stdout).toMatch(/bad\.jsonl +1 +10 +1 +2/);
    expect(stdout).toMatch(/bad\.jsonl:2: /);
    expect(stdout).toMatch(/bad\.jsonl:3: .*ground_truth/);
    expect(code).toBe(1);
  });

  it('reports tests that some wrong answers pass, which is no failure', async () => {
    const [row] = await starterRows();
    const pack = await file('weak.jsonl', [
      { ...row, ground_truth: 'def parcel_price(weight_kg, zone):\n    return 7' },
    ]);
    const { stdout, code } = await tandem('tasks', pack, '--references');
    expect(stdout).toMatch(/weak\.jsonl: tests of task parcel-surcharge: Every test expects 7, /);
    expect(code).toBe(0);
    const { summary } = await json(weakSchema, 'tasks', pack, '--references');
    expect(summary.weakTests).toMatchObject([{ task: 'parcel-surcharge' }]);
  });

  it('reports a reference that fails on its own tests', async () => {
    const [row] = await starterRows();
    const pack = await file('reference.jsonl', [
      { ...row, ground_truth: 'def parcel_price(weight_kg, zone):\n    return 1 / 0' },
    ]);
    const { stdout, code } = await tandem('tasks', pack, '--references');
    expect(stdout).toMatch(/reference of task parcel-surcharge: .*ZeroDivisionError.*\(and 9 more tests\)/);
    expect(code).toBe(1);
  });
});
