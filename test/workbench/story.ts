import { afterEach, beforeEach } from 'vitest';

import { openWindows } from './driver';

// Each file of this suite, and each group that starts its own workbench, is a story whose steps build on each other. A
// story ends at its first failed step, because later steps would wait in vain for its result.

/** The failed step of each ended story. */
const ended = new Map<string, string>();

interface Step {
  readonly name: string;
  readonly suite?: { readonly name: string; readonly suite?: unknown } | undefined;
  readonly file: { readonly name: string };
}

const storyOf = ({ suite, file }: Step): string => suite?.name ?? file.name;

beforeEach(({ task, skip }) => {
  const failed = ended.get(storyOf(task));
  if (failed !== undefined) skip(`not reached, because “${failed}” failed`);
});

afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  ended.set(storyOf(task), task.name);
  const name = `failed-${task.name.replaceAll(/\W+/g, '-').slice(0, 80)}`;
  // A picture and the logs explain more than the name of the missing element.
  for (const [index, window] of [...openWindows].entries()) {
    await window.screenshot(`${name}-${index + 1}`);
    await window.keepLogs(`${name}-${index + 1}`);
  }
});
