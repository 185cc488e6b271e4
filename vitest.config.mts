import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first: begun last, one of them would keep a core waiting. */
const longest = [
  'process/real-model/train',
  'process/evaluation/loop/miniature',
  'process/cli/train',
  'process/cli/several-processes',
  'process/foreign-text/size',
  'process/training/patience',
  'process/training/environment',
  'process/foreign-text/steps',
  'process/training/score-here',
  'workbench/newRun',
  'workbench/trajectories',
  'workbench/package',
  'workbench/interruptions',
  'workbench/credit',
];

/** The grader's tests take longest in `unit`; what fails without them fails first. */
const last = '/unit/grading/';

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      if (found !== -1) return found;
      return longest.length + Number(moduleId.includes(last));
    };
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}

// One project per folder of test/ that needs no extension host; `scripts/test.mjs` runs them. `unit` needs nothing but
// the repository. `sandbox` runs many hostile answers, and answers under bubblewrap. A test that starts the trainer,
// `tandem`, a loop, a model or a server belongs to `process`, one that runs programs of others to `neighbours`.
export default defineConfig({
  test: {
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // On a busy machine a step may take long; what never comes still fails.
    expect: { poll: { timeout: 150_000 } },
    maxWorkers: 2,
    // PyTorch's threads wait for each other by turning in circles. Where several processes share the cores, two threads
    // of one take twice the processor time of one.
    env: { OMP_NUM_THREADS: '1' },
    sequence: { sequencer: InOrder },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          globalSetup: 'test/unit/grader-folder.ts',
          setupFiles: ['test/unit/fresh-modules.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'sandbox',
          include: ['test/sandbox/**/*.test.ts'],
          globalSetup: 'test/unit/grader-folder.ts',
          setupFiles: ['test/unit/fresh-modules.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: ['test/process/**/*.test.ts'],
          // A real model plays and trains here, beside the trainer's suite and whatever else the machine does.
          testTimeout: 900_000,
          hookTimeout: 900_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'neighbours',
          include: ['test/neighbours/**/*.test.ts'],
          globalSetup: 'test/neighbours/environments.ts',
          testTimeout: 900_000,
          hookTimeout: 900_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'workbench',
          include: ['test/workbench/**/*.test.ts'],
          setupFiles: ['test/workbench/story.ts'],
          isolate: false,
          // A step waits for several things, each of which may take as long as the driver waits.
          testTimeout: 1_800_000,
          hookTimeout: 1_800_000,
          // A value is waited for as long as an element (driver.ts).
          expect: { poll: { timeout: 300_000 } },
          // Each file has a workbench of its own, which mostly waits.
          fileParallelism: true,
        },
      },
      {
        extends: true,
        // The quick stories that `npm test` runs; the settings are those of `workbench`.
        test: {
          name: 'smoke',
          include: ['test/smoke/**/*.test.ts'],
          setupFiles: ['test/workbench/story.ts'],
          isolate: false,
          testTimeout: 1_800_000,
          hookTimeout: 1_800_000,
          expect: { poll: { timeout: 300_000 } },
          fileParallelism: true,
        },
      },
      {
        extends: true,
        // What is taken for README.md, by hand; `npm test` does not run it.
        test: { name: 'pictures', include: ['test/pictures/**/*.test.ts'], testTimeout: 400_000 },
      },
    ],
  },
});
