import type { FrameLocator } from 'playwright-core';

import type { WorkbenchDriver } from './driver';

/** Returns the form of a new run in the active webview panel. */
export function newRunForm(workbench: WorkbenchDriver): FrameLocator {
  return workbench.webviewFrame('panel');
}

/** Starts a run of a method with the defaults: the view's button, the method, Start. */
export async function startDefaultRun(workbench: WorkbenchDriver, method: string): Promise<void> {
  await workbench.page.getByRole('button', { name: 'New Run…' }).first().click();
  const form = newRunForm(workbench);
  await form.getByRole('radio', { name: method, exact: true }).check();
  await form.getByRole('button', { name: 'Start' }).click();
}
