import type { FrameLocator } from 'playwright-core';

import type { WorkbenchDriver } from './driver';

/** Returns the form of a new run in the active webview panel. */
export function newRunForm(workbench: WorkbenchDriver): FrameLocator {
  return workbench.webviewFrame('panel');
}
