import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../../../scripts/setup/project.mjs';
import { chromium } from '../../../scripts/setup/system.mjs';
import { cleanPage } from '../../../src/core/page/cleanPage';
import { findBrowser } from '../../../src/core/rendering/browserPages';
import { PageRenderer } from '../../../src/core/rendering/pageRenderer';

const sheet = path.join(root, 'media/pages/tailwind-2.2.19.css.br');
const published = path.resolve(root, '../shared/colbench/frontend_sample.jsonl');

let renderer: PageRenderer;
/** Has a tab of its own, which a page without the clean-up may take elsewhere. */
let unguarded: PageRenderer;
/** Counts connections to this machine. */
let listener: Server;
let connections = 0;
let port: number;

const draw = (html: string): ReturnType<PageRenderer['draw']> => renderer.draw(cleanPage(html, sheet));
/** Draws without the clean-up, as if it had missed everything; such a page may leave the tab or never end. */
const drawRaw = (html: string): ReturnType<PageRenderer['draw']> => unguarded.draw(html);

beforeAll(async () => {
  const browser = chromium() ?? (await findBrowser());
  [renderer, unguarded] = [new PageRenderer(browser), new PageRenderer(browser)];
  listener = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve));
  port = (listener.address() as { port: number }).port;
});

afterAll(async () => {
  await renderer[Symbol.asyncDispose]();
  await unguarded[Symbol.asyncDispose]();
  listener.close();
});

test('names the browser, the system and the fonts', async () => {
  expect(await renderer.name()).toMatch(/^\w*Chrome\/[\d.]+ \w+ [0-9a-f]{6}$/);
  expect(await renderer.name()).toBe(await renderer.name());
});

test('draws what a page shows, as tall as its content', async () => {
  const { outline, picture } = await draw(
    '<html><body style="margin:0;background:#eee"><h1 style="color:red">Shop</h1>' +
      '<div style="background:#036;height:50px"><a href="/x" style="color:white">Home</a></div>' +
      '<img src="https://picsum.photos/id/48/300/150"><p hidden>x</p><p style="color:#eee">unseen</p></body></html>',
  );
  expect(outline).toMatchObject({
    width: 1366,
    background: [238, 238, 238],
    texts: [
      { role: 'title', text: 'Shop', color: [255, 0, 0], bold: true, fontSize: 32 },
      { role: 'link', text: 'Home', color: [255, 255, 255], background: [0, 51, 102] },
    ],
    pictures: [{ width: 300, height: 150 }],
    fills: [{ box: { width: 1366, height: 50 }, color: [0, 51, 102] }],
  });
  expect(outline.height).toBeLessThan(400);
  // The size in a PNG's header.
  expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1366, outline.height]);
});

test('draws every published page twice as the same bytes', async (context) => {
  if (!existsSync(published))
    context.skip('The published sample is not beside the repository; nothing was drawn.');
  const rows = readFileSync(published, 'utf8').trim().split('\n');
  const pages = rows.map((row) => (JSON.parse(row) as { ground_truth: string }).ground_truth);
  expect(pages).toHaveLength(100);
  const first = [];
  for (const page of pages) first.push(await draw(page));
  for (const [i, page] of pages.entries()) {
    const again = await draw(page);
    expect(again.picture.equals(first[i]!.picture), `row ${i}`).toBe(true);
    expect(again.outline).toEqual(first[i]!.outline);
  }
});

test('connects to nothing and runs nothing, also without the clean-up', async () => {
  const there = `http://127.0.0.1:${port}/`;
  const hostile = [
    ...[`<img src="${there}">`, `<iframe src="${there}"></iframe>`, `<script src="${there}"></script>`],
    ...[
      `<link rel="stylesheet" href="${there}">`,
      `<link rel="preconnect" href="${there}">`,
      `<link rel="dns-prefetch" href="${there}">`,
    ],
    ...[
      `<link rel="prefetch" href="${there}">`,
      `<link rel="modulepreload" href="${there}">`,
      `<link rel="icon" href="${there}">`,
    ],
    ...[
      `<meta http-equiv="refresh" content="0;url=${there}">`,
      `<object data="${there}"></object>`,
      `<embed src="${there}">`,
    ],
    ...[
      `<video src="${there}" autoplay></video>`,
      `<audio src="${there}" autoplay></audio>`,
      `<video poster="${there}"></video>`,
    ],
    ...[
      `<style>@import "${there}";</style>`,
      `<style>body{background:url(${there})}</style>`,
      `<p style="background:u\\72l(${there})">x</p>`,
    ],
    ...[
      `<style>@font-face{font-family:x;src:url(${there})}p{font-family:x}</style><p>x</p>`,
      `<body background="${there}">`,
    ],
    ...[
      `<svg><image href="${there}"/><use href="${there}#a"/></svg>`,
      `<svg><style>@import url(${there})</style></svg>`,
    ],
    ...[
      `<img srcset="${there} 1x">`,
      `<picture><source srcset="${there}"><img></picture>`,
      `<input type="image" src="${there}">`,
    ],
    ...[
      `<base href="${there}"><img src="x">`,
      `<form action="${there}"><input autofocus></form>`,
      `<a href="${there}" ping="${there}">x</a>`,
    ],
    ...[
      `<script>fetch("${there}")</script>`,
      `<img src=x onerror="fetch('${there}')">`,
      `<svg onload="fetch('${there}')"></svg>`,
    ],
    ...[
      `<iframe srcdoc="<script>fetch('${there}')</script><img src='${there}'>"></iframe>`,
      `<details open ontoggle="fetch('${there}')">`,
    ],
    ...[
      `<p style="list-style-image:url(${there});display:list-item">x</p>`,
      `<p style="cursor:url(${there}),auto">x</p>`,
    ],
    ...[
      `<p style="content:image-set('${there}' 1x)">x</p>`,
      `<p style="mask:url(${there}#a);filter:url(${there}#b)">x</p>`,
    ],
    ...[
      `<frameset><frame src="${there}"></frameset>`,
      `<portal src="${there}"></portal>`,
      `<table background="${there}"><td>x</table>`,
    ],
    ...[
      `<track src="${there}">`,
      `<math href="${there}">x</math>`,
      `<marquee onstart="fetch('${there}')">x</marquee>`,
    ],
    ...[
      `<script type="speculationrules">{"prefetch":[{"urls":["${there}"]}]}</script>`,
      `<link rel="manifest" href="${there}">`,
    ],
    ...[
      `<svg><animate attributeName="href" values="${there}"/></svg>`,
      `<svg><script href="${there}"></script></svg>`,
    ],
    ...[
      `<svg><foreignObject><img src="${there}"></foreignObject></svg>`,
      `<noscript><img src="${there}"></noscript>`,
    ],
    ...[
      `<template shadowrootmode="open"><img src="${there}"></template>`,
      `<input onfocus="fetch('${there}')" autofocus>`,
    ],
    ...[
      `<style>p::before{content:url(${there})}</style><p>x</p>`,
      `<style>p{border-image:url(${there}) 1}</style><p>x</p>`,
    ],
    ...[
      `<style>@namespace url(${there});</style>`,
      `<p style="shape-outside:url(${there})">x</p>`,
      `<bgsound src="${there}">`,
    ],
    ...[
      `<applet code="${there}"></applet>`,
      `<layer src="${there}"></layer>`,
      `<isindex action="${there}">`,
      `<img longdesc="${there}" src="${there}">`,
    ],
  ];
  expect(hostile.length).toBeGreaterThanOrEqual(60);
  for (const html of hostile) {
    await draw(`<html><body>${html}</body></html>`);
    await drawRaw(`<html><body>${html}</body></html>`).catch(() => undefined);
  }
  expect(connections).toBe(0);
  expect(
    (await draw('<html><script>document.write("ran")</script>still</html>')).outline.texts,
  ).toMatchObject([{ text: 'still' }]);
});

test('gives a page up after five seconds, and draws the next one', async () => {
  const blurs = '<div style="filter:blur(400px);width:9000px;height:9000px;background:red">'.repeat(60);
  await expect(drawRaw(`<html><body>${'<table><tr><td>'.repeat(400)}${blurs.repeat(4)}`)).rejects.toThrow(
    /within 5 seconds|failed/,
  );
  expect((await drawRaw('<html>next</html>')).outline.texts).toMatchObject([{ text: 'next' }]);
});

test('says which browsers it looked for, or that the named one is not there', async () => {
  await expect(findBrowser('/no/such/chrome')).rejects.toThrow('There is no program at /no/such/chrome.');
});
