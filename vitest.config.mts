import { defineConfig } from 'vitest/config';

// One project per kind of test that needs no extension host; `scripts/test.mjs` runs them all.
export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'workbench',
          include: ['test/workbench/**/*.test.ts'],
          setupFiles: ['test/workbench/seen.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          // Each file has a workbench of its own, which mostly waits.
          fileParallelism: true,
        },
      },
    ],
  },
});
