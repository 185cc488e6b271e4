import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { build } from 'esbuild';
import { chromium as playwright, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../../scripts/setup/project.mjs';
import { chromium } from '../../../scripts/setup/system.mjs';
import { cleanPage } from '../../../src/core/page/cleanPage';
import { findBrowser } from '../../../src/core/rendering/browserPages';
import { PageRenderer } from '../../../src/core/rendering/pageRenderer';

const sheet = path.join(root, 'media/pages/tailwind-2.2.19.css.br');
const published = path.resolve(root, '../shared/colbench/frontend_sample.jsonl');
const TAILWIND = '<link href="https://cdn.jsdelivr.net/npm/tailwindcss@2.2.19/dist/tailwind.min.css">';

/** As a view's, `panel.ts`: only style elements with the nonce, style attributes, and pictures in the page. */
const view = `<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="default-src 'none';
  style-src 'nonce-abc'; style-src-attr 'unsafe-inline'; img-src data:">
  <meta property="csp-nonce" content="abc"><style nonce="abc">body{margin:0}iframe{border:0;display:block;background:#fff}</style>
  <body><iframe sandbox="allow-same-origin" scrolling="no" inert tabindex="-1"></iframe>`;

/** Pixels depend on these; the renderer has the same. */
const args = [
  ...['--disable-gpu', '--hide-scrollbars', '--force-color-profile=srgb', '--force-device-scale-factor=1'],
  ...['--font-render-hinting=none', '--disable-lcd-text'],
];

let renderer: PageRenderer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  const program = chromium() ?? (await findBrowser());
  renderer = new PageRenderer(program);
  browser = await playwright.launch({ executablePath: program, args });
  page = await browser.newPage({ viewport: { width: 1366, height: 682 } });
  const { outputFiles } = await build({
    ...{ entryPoints: [path.join(root, 'webview/pages/frame.ts')], bundle: true, write: false },
    ...{ format: 'iife', globalName: 'frames_', logLevel: 'silent' },
  });
  await page.setContent(view);
  await page.evaluate(`${outputFiles[0]!.text}; globalThis.fillFrame = frames_.fillFrame; undefined`);
});

afterAll(async () => {
  await browser.close();
  await renderer[Symbol.asyncDispose]();
});

/** Pixels of the frame and of the renderer's picture, and the two heights. */
async function both(source: string, width = 1366) {
  const html = cleanPage(source, sheet);
  const { picture, outline } = await renderer.draw(html, width);
  const height = await page.evaluate<number>(
    `fillFrame(document.querySelector('iframe'), ${JSON.stringify(html)}, ${width})`,
  );
  const clip = { x: 0, y: 0, width, height: outline.height, scale: 1 };
  // As the renderer does: where a layer is cut into tiles decides the last bit of some pixels.
  const devTools = await page.context().newCDPSession(page);
  const { data } = await devTools.send('Page.captureScreenshot', { clip, captureBeyondViewport: true });
  await devTools.detach();
  const framed = Buffer.from(data, 'base64');
  return { isEqual: framed.equals(picture), heights: [height, outline.height] };
}

test.each([
  [
    'in quirks mode',
    `<html>${TAILWIND}<body class="bg-gray-100"><h1 class="text-3xl">Shop</h1><p style="color:red">x</p>`,
  ],
  ['in standards mode', '<!DOCTYPE html><html><body><h1>Shop</h1><p>A</p></body></html>'],
  [
    'with a part as high as the window',
    `<html>${TAILWIND}<body><div class="h-screen bg-blue-500">x</div><p>below</p><div class="h-full bg-red-200">y</div>`,
  ],
  [
    'with percentages of the window',
    '<!DOCTYPE html><html style="height:100%"><body style="height:100%;margin:0"><div style="height:50%;background:#036">x</div><p style="margin-top:900px">y',
  ],
  [
    'with a part at the window’s foot',
    `<html>${TAILWIND}<body><p>x</p><footer class="absolute bottom-0 w-full bg-gray-300">foot</footer><div style="height:900px">y</div>`,
  ],
  [
    'with a part that stays',
    `<html>${TAILWIND}<body><p>x</p><footer class="fixed bottom-0 w-full bg-gray-300">foot</footer><div style="height:900px">y</div>`,
  ],
])('a frame draws a page %s as the renderer does', async (_, source) => {
  for (const width of [1366, 390]) {
    const { isEqual, heights } = await both(source, width);
    expect(heights[0]).toBe(heights[1]);
    expect(isEqual, `${width} pixels wide`).toBe(true);
  }
});

test('a frame draws every published page as the renderer does', async (context) => {
  if (!existsSync(published))
    context.skip('The published sample is not beside the repository; nothing was drawn.');
  const rows = readFileSync(published, 'utf8').trim().split('\n');
  const different = [];
  for (const [index, row] of rows.entries()) {
    const { isEqual, heights } = await both((JSON.parse(row) as { ground_truth: string }).ground_truth);
    if (!isEqual) different.push([index, ...heights]);
  }
  expect(rows).toHaveLength(100);
  expect(different).toEqual([]);
});
