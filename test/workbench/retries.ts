import type { Locator } from 'playwright-core';

/** Maximum attempts to open the palette or a menu, which other events may close. */
const ATTEMPTS = 5;

/** Retries an action that other events interrupted, each time with a longer limit, because the machine may be slow. */
export async function insisting(
  act: (options: { readonly timeout: number }) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await act({ timeout: 10_000 * attempt });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Retries an action that may be lost, until what it brings has appeared. */
export async function repeatedly(
  shown: Locator,
  act: (options: { readonly timeout: number }) => Promise<void>,
): Promise<void> {
  let isFirst = true;
  await insisting(async (options) => {
    // It may also have appeared late.
    const isDue = isFirst || !(await shown.isVisible());
    isFirst = false;
    if (isDue) await act(options);
    await shown.waitFor(options);
  });
}
