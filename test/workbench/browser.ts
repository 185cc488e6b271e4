import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { BrowserContextOptions, Page, ViewportSize } from 'playwright-core';

import { results } from '../../scripts/setup/project.mjs';
import { launchProfile } from '../../scripts/workbench/browser.mjs';
import { answerForContrast, inDark, keepStill } from './themes';

/**
 * Cache of the browsers of this process, so that the next one need not compile the workbench again, like a browser on
 * its second day. The cache of an earlier run belongs to another build.
 */
const cache = path.join(results, `browser-cache-${process.env.VITEST_POOL_ID ?? ''}`);
const emptied = rm(cache, { recursive: true, force: true }).then(() => mkdir(cache, { recursive: true }));
/** Cache folders of a browser profile. */
const PARTS = ['Cache', 'Code Cache'];

/**
 * Grants the page access to the clipboard. Otherwise the workbench copies through a hidden field, which takes the focus
 * for a moment at a time that a test cannot predict.
 */
const ofAPerson: BrowserContextOptions = { ...inDark, permissions: ['clipboard-read', 'clipboard-write'] };

/** Number of times that a page is slower than this machine, for a person who looks for what the tests presume. */
const slowness = Number(process.env.TANDEM_SLOW_PAGE ?? '1');

export interface OpenBrowser extends AsyncDisposable {
  readonly page: Page;
}

/**
 * Opens a browser with an empty profile, apart from the cache.
 * @param port where `pageHost` leads, on 127.0.0.1
 */
export async function openBrowser(port: number, viewport: ViewportSize | null): Promise<OpenBrowser> {
  await emptied;
  const profile = await mkdtemp(path.join(os.tmpdir(), 'tandem-browser-'));
  const own = path.join(profile, 'Default');
  await cp(cache, own, { recursive: true });
  const context = await launchProfile(profile, port, { viewport, ...ofAPerson });
  await context.addInitScript(answerForContrast);
  await context.addInitScript(keepStill);
  const page = context.pages()[0] ?? (await context.newPage());
  if (slowness > 1) {
    const devTools = await context.newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: slowness });
  }
  return {
    page,
    [Symbol.asyncDispose]: async () => {
      await context.close();
      for (const part of PARTS) {
        await rm(path.join(cache, part), { recursive: true, force: true });
        await rename(path.join(own, part), path.join(cache, part));
      }
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
