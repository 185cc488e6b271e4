import axe, { type AxeResults } from 'axe-core';
import type { FrameLocator } from 'playwright-core';
import { expect } from 'vitest';

import { usualThemes, type WorkbenchDriver } from './driver';

/** What axe finds wrong with what a webview draws now, one line for each element; none is wanted. */
async function violations(webview: FrameLocator): Promise<string[]> {
  const element = await webview.locator('html').elementHandle();
  const frame = await element.ownerFrame();
  if (frame === null) throw new Error('The webview is not there any more.');
  // As text, which the page's content security policy lets a debugger run.
  await frame.evaluate(axe.source);
  const results = await frame.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 200)} ${any[0]?.message ?? ''}`),
  );
}

/** Waits until axe finds nothing wrong with what a webview draws: it may still be drawing when it is looked at. */
export async function expectAccessible(webview: FrameLocator, message?: string): Promise<void> {
  await expect.poll(() => violations(webview), { ...(message !== undefined && { message }) }).toEqual([]);
}

/** Pictures of the workbench in each of the themes, in which everybody can use what the webview draws. */
export async function accessiblePictures(
  workbench: WorkbenchDriver,
  webview: FrameLocator,
  name: string,
  themes = usualThemes,
  show?: () => Promise<void>,
): Promise<void> {
  for (const theme of themes) {
    await workbench.pictures(name, [theme], show);
    await expectAccessible(webview, theme);
  }
}
