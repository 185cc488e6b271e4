import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that train take minutes: begun last, one of them would keep a core waiting. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      /(cli\/(train|several-processes)|loop\/\w+|workbench\/(runs|newRun|interruptions|credit))\.test\.ts$/.test(
        moduleId,
      );
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

// One project per kind of test that needs no extension host; `scripts/test.mjs` runs them all.
export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is waited for comes when it comes, on a busy machine late.
    expect: { poll: { timeout: 50_000 } },
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'workbench',
          include: ['test/workbench/**/*.test.ts'],
          setupFiles: ['test/workbench/story.ts'],
          // A step waits for several things, each of which may take as long as the driver waits.
          testTimeout: 400_000,
          hookTimeout: 600_000,
          // Each file has a workbench of its own, which mostly waits.
          fileParallelism: true,
        },
      },
    ],
  },
});
