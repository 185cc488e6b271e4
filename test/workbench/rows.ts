// What a person does with rows of lists and trees, which the workbench may draw anew at any moment.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import { insisting, repeatedly } from './retries';

/**
 * Chooses an item of a row's context menu. A redrawn list closes the menu, also under the mouse, and a menu that has
 * just opened ignores all input; then it is opened again. While the list is drawn anew, the editor does not know its
 * rows, and a choice does nothing; then it is chosen again.
 * @param shown what appears when it was chosen, where that can be seen without doing anything else
 */
export async function chooseInMenu(of: Locator, item: string, shown?: Locator): Promise<void> {
  if (shown === undefined) await insisting((options) => chooseOnce(of, item, options));
  else await repeatedly(shown, (options) => chooseOnce(of, item, options));
}

async function chooseOnce(of: Locator, item: string, options: { readonly timeout: number }): Promise<void> {
  await of.click({ button: 'right', ...options });
  const found = of.page().getByRole('menuitem', { name: item });
  await found.hover(options);
  // At first the menu takes the release of the mouse button for a choice.
  await of.page().waitForTimeout(500);
  const released = await found.evaluateHandle((element) => {
    const seen = { isThere: false };
    element.addEventListener('mouseup', () => (seen.isThere = true), { capture: true });
    return seen;
  });
  await found.click(options);
  await found.waitFor({ state: 'hidden', ...options });
  if (!(await released.evaluate(({ isThere }) => isThere)))
    throw new Error(`The menu was closed before “${item}” was chosen.`);
}

/**
 * Presses a button of a list's row. While the list is drawn anew, the editor does not know its rows, and a press does
 * nothing; then it is pressed again.
 * @param shown what appears when it was pressed
 */
export async function pressInRow(row: Locator, name: string, shown: Locator): Promise<void> {
  await repeatedly(shown, async (options) => {
    await row.hover(options);
    await row.getByRole('button', { name }).click(options);
  });
}

/**
 * Presses a row of a tree, or a button of an empty one, which opens something. While a tree is drawn anew a press is
 * lost; then it is pressed again.
 * @param shown what appears then, and is not there before
 */
export async function openRow(row: Locator, shown: Locator): Promise<void> {
  await repeatedly(shown, (options) => row.click(options));
}

/** Selects a row of a tree, and no other; this also opens what it stands for. */
export async function select(row: Locator): Promise<void> {
  const selected = row.locator('xpath=ancestor::*[@role="tree"]').locator('[aria-selected=true]');
  await insisting(async (options) => {
    await row.click(options);
    await expect
      .poll(async () => [await row.getAttribute('aria-selected', options), await selected.count()], options)
      .toEqual(['true', 1]);
  });
}

/** Adds a row to those that are selected. A press while the rows are drawn anew is lost; then it is pressed again. */
export async function alsoSelect(row: Locator): Promise<void> {
  await insisting(async (options) => {
    if ((await row.getAttribute('aria-selected', options)) === 'true') return;
    await row.click({ modifiers: ['ControlOrMeta'], ...options });
    await expect.poll(() => row.getAttribute('aria-selected'), options).toBe('true');
  });
}

/**
 * Presses a key in a list or a page. What was opened or closed just before may still take the focus, and with it the
 * key; then it is pressed again.
 * @param shown what appears when the key has arrived
 */
export async function pressKey(on: Locator, key: string, shown: Locator): Promise<void> {
  await repeatedly(shown, (options) => on.press(key, options));
}

/**
 * Presses two keys that are one command, wherever the focus is. The workbench forgets the first one after five seconds;
 * then both are pressed again.
 * @param shown what appears when they have arrived, and would appear only once if they arrived twice
 */
export async function pressChord(page: Page, keys: readonly [string, string], shown: Locator): Promise<void> {
  await repeatedly(shown, async () => {
    for (const key of keys) await page.keyboard.press(key);
  });
}

/** Points at something until its hover appears. It does not while what is pointed at is drawn anew. */
export async function pointAt(over: Locator, shown: Locator): Promise<void> {
  await insisting(async (options) => {
    // The pointer has to come from elsewhere, or nothing would notice it.
    await over.page().mouse.move(0, 0);
    await over.hover(options);
    await shown.waitFor(options);
  });
}
