import { afterEach } from 'vitest';

import { openWindows } from './driver';

/** What a person would have seen when a test failed tells more than which element was missing. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  const name = `failed-${task.name.replaceAll(/\W+/g, '-').slice(0, 80)}`;
  for (const [index, window] of [...openWindows].entries()) await window.screenshot(`${name}-${index + 1}`);
});
