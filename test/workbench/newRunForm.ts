import type { FrameLocator, Locator } from 'playwright-core';

import type { WorkbenchDriver } from './driver';

/** Returns the form of a new run in the active webview panel. */
export function newRunForm(workbench: WorkbenchDriver): FrameLocator {
  return workbench.webviewFrame('panel');
}

/** Returns the line that opens and closes the settings. */
export function moreSettings(workbench: WorkbenchDriver): Locator {
  return newRunForm(workbench).locator('.more > summary');
}
