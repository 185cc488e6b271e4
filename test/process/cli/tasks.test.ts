import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
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
  expect(stdout).toMatch(/bad\.jsonl +1 +10 +1 +0 +2/);
  expect(stdout).toMatch(/bad\.jsonl:2: /);
  expect(stdout).toMatch(/bad\.jsonl:3: .*ground_truth/);
  expect(stdout).toMatch(/reference of task parcel-surcharge: .*ZeroDivisionError/);
  expect(code).toBe(1);
});

it.runIf(process.platform === 'linux')('Ctrl+C ends a command that reads a long file', async () => {
  // Blank lines are passed over without a word, for about half a minute.
  const long = await file('long.jsonl', ['\n'.repeat(2 ** 25)]);
  const child = spawn(process.execPath, ['dist/tandem.js', 'tasks', long], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect.poll(() => openedBy(child.pid), { timeout: 20_000 }).toContain(long);
  child.kill('SIGINT');
  expect(await ended).toEqual([1, null]);
});

async function openedBy(pid: number | undefined): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const links = (await readdir(folder)).map((name) => readlink(path.join(folder, name)).catch(() => ''));
  return Promise.all(links);
}
