import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { FrameLocator } from 'playwright-core';
import { expect } from 'vitest';

import type { WorkbenchDriver } from './driver';
import { usualThemes } from './themes';

/** What axe looks at: all its rules, or that which a theme decides. */
type Rules = 'all' | 'contrast';

/** What axe finds wrong with what a webview draws now, one line for each element; none is wanted. */
async function violations(webview: FrameLocator, rules: Rules): Promise<string[]> {
  const element = await webview.locator('html').elementHandle();
  const frame = await element.ownerFrame();
  if (frame === null) throw new Error('The webview is not there any more.');
  // As text, which the page's content security policy lets a debugger run.
  if (!(await frame.evaluate<boolean>('"axe" in globalThis'))) await frame.evaluate(axe.source);
  const options: RunOptions = { resultTypes: ['violations'] };
  if (rules === 'contrast') options.runOnly = ['color-contrast'];
  const results = await frame.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 200)} ${any[0]?.message ?? ''}`),
  );
}

/** Waits until axe finds nothing wrong with what a webview draws: it may still be drawing when it is looked at. */
export async function expectAccessible(
  webview: FrameLocator,
  { message, rules = 'all' }: { readonly message?: string; readonly rules?: Rules } = {},
): Promise<void> {
  await expect
    .poll(() => violations(webview, rules), { ...(message !== undefined && { message }) })
    .toEqual([]);
}

/** Pictures of the workbench in each of the themes, in which everybody can use what the webview draws. */
export async function accessiblePictures(
  workbench: WorkbenchDriver,
  webview: FrameLocator,
  name: string,
  themes = usualThemes,
): Promise<void> {
  for (const [index, theme] of themes.entries()) {
    await workbench.pictures(name, [theme]);
    // A theme decides about colors only.
    await expectAccessible(webview, { message: theme, rules: index === 0 ? 'all' : 'contrast' });
  }
}
