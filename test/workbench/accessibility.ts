import axe, { type AxeResults } from 'axe-core';
import type { FrameLocator } from 'playwright-core';

/** What axe finds wrong with what a webview draws now, one line for each element; none is wanted. */
export async function violations(webview: FrameLocator): Promise<string[]> {
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
