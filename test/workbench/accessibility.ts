import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { FrameLocator } from 'playwright-core';
import { expect } from 'vitest';

import type { WorkbenchDriver } from './driver';
import { usualThemes } from './themes';

/** Rules that axe checks: all of them, or only the contrast, which depends on the theme. */
type Rules = 'all' | 'contrast';

/** A webview of the workbench, or a page of its own. */
type DrawnPage = Pick<FrameLocator, 'locator'>;

/** Returns axe's findings in a page, one line for each element; the tests expect none. */
async function violations(webview: DrawnPage, rules: Rules): Promise<string[]> {
  const element = await webview.locator('html').elementHandle();
  const frame = await element.ownerFrame();
  if (frame === null) throw new Error('The webview is not there any more.');
  // The code is text, because the page's content security policy allows the debugger to evaluate text.
  if (!(await frame.evaluate<boolean>('"axe" in globalThis'))) await frame.evaluate(axe.source);
  const options: RunOptions = { resultTypes: ['violations'] };
  if (rules === 'contrast') options.runOnly = ['color-contrast'];
  const results = await frame.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 200)} ${any[0]?.message ?? ''}`),
  );
}

/** Waits until axe finds nothing wrong in a webview, which may still be drawing at first. */
export async function expectAccessible(
  webview: DrawnPage,
  { message, rules = 'all' }: { readonly message?: string; readonly rules?: Rules } = {},
): Promise<void> {
  await expect
    .poll(() => violations(webview, rules), { ...(message !== undefined && { message }) })
    .toEqual([]);
}

/** Takes a picture of the workbench in each theme, and checks the webview's accessibility in it. */
export async function accessiblePictures(
  workbench: WorkbenchDriver,
  webview: FrameLocator,
  name: string,
  themes = usualThemes,
): Promise<void> {
  for (const [index, theme] of themes.entries()) {
    await workbench.pictures(name, [theme]);
    // A theme changes colors only.
    await expectAccessible(webview, { message: theme, rules: index === 0 ? 'all' : 'contrast' });
  }
}
