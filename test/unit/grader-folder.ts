import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder in which `test/fixtures/sandbox.ts` builds the grader of this test run. */
    graderFolder: string;
  }
}

/** Vitest calls this before the first file, and its result after the last one. */
export default function provideFolder(project: TestProject): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-grader-'));
  project.provide('graderFolder', folder);
  return () => rmSync(folder, { recursive: true });
}
