import path from 'node:path';

import { expect, test } from 'vitest';

import { root } from '../../../scripts/setup/project.mjs';
import { cleanPage, MAX_PAGE_CHARS } from '../../../src/core/page/cleanPage';
import { withoutAddresses } from '../../../src/core/page/styleSheet';

const sheet = path.join(root, 'media/pages/tailwind-2.2.19.css.br');
const clean = (html: string): string => cleanPage(html, sheet);
const body = (html: string): string =>
  /<body>(.*)<\/body>/s.exec(clean(`<html><body>${html}</body></html>`))![1]!;
const link =
  '<link href="https://cdn.jsdelivr.net/npm/tailwindcss@2.2.19/dist/tailwind.min.css" rel="stylesheet">';

test('keeps what is drawn', () => {
  const html =
    '<h1 class="a" id="b" style="color: red">Shop</h1><p>a &lt; b</p><input type="text" placeholder="Name">';
  expect(body(html)).toBe(html);
});

test.each([
  ['<script>alert(1)</script>', ''],
  ['<link rel="preconnect" href="https://example.invalid">', ''],
  ['<base href="https://example.invalid/">', ''],
  ['<meta http-equiv="refresh" content="0;url=https://example.invalid">', ''],
  ['<object data="x.swf"></object><embed src="x">', ''],
  ['<p onclick="alert(1)" tabindex="0" contenteditable>x</p>', '<p>x</p>'],
  ['<a href="https://example.invalid" ping="https://example.invalid">x</a>', '<a href="#">x</a>'],
  [
    '<form action="https://example.invalid"><button formaction="javascript:1">x</button></form>',
    '<form><button>x</button></form>',
  ],
  [
    '<iframe src="https://example.invalid" srcdoc="<script>1</script>" width="5">x</iframe>',
    '<iframe width="5"></iframe>',
  ],
  [
    '<video src="https://example.invalid" poster="https://example.invalid" autoplay></video>',
    '<video></video>',
  ],
  ['<table background="https://example.invalid"></table>', '<table></table>'],
  ['<marquee behavior="scroll">x</marquee>', '<div>x</div>'],
  ['<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>', ''],
  [
    '<svg><style>&lt;img src=x onerror=alert(1)&gt;</style><a xlink:href="javascript:1"><path d="M0(1"></path></a></svg>',
    '<svg><a><path d="M0(1"></path></a></svg>',
  ],
  [
    '<svg><use href="https://example.invalid#a"></use><use href="#a"></use></svg>',
    '<svg><use></use><use href="#a"></use></svg>',
  ],
  [
    '<svg><animate attributeName="href" to="javascript:1"></animate><foreignObject><p>x</p></foreignObject></svg>',
    '<svg></svg>',
  ],
  [
    '<svg><rect fill="url(https://example.invalid)"></rect></svg>',
    '<svg><rect fill="url(&quot;data:image/svg+xml',
  ],
  ['<!-- x --><noscript><p>x</p></noscript>', '<noscript><p>x</p></noscript>'],
  ['<template><img src="https://example.invalid"></template>', ''],
])('cleans %s', (html, expected) => {
  expect(body(html).slice(0, expected.length || undefined)).toBe(expected);
});

test('finds nothing to clean in a clean page', () => {
  const once = clean(
    `${link}<svg><title><style><img src=x onerror=1></style></title></svg><style>a>b{c:url(//x)}</style><p>x`,
  );
  expect(clean(once).replaceAll(/<style>\*,::before.*?<\/style>/g, '')).toBe(
    once.replaceAll(/<style>\*,::before.*?<\/style>/g, ''),
  );
});

test('puts a placeholder of the asked size where a picture was', () => {
  const picture = (address: string): string => decodeURIComponent(body(`<img alt="a" src="${address}">`));
  expect(picture('https://picsum.photos/id/48/300/150-estate')).toContain('width="300" height="150"');
  expect(picture('https://picsum.photos/80')).toContain('width="80" height="80"');
  expect(picture('/logo.png')).toContain('width="300" height="200"');
  expect(body('<img src="data:image/png;base64,AAAA">')).toBe('<img src="data:image/png;base64,AAAA">');
});

test('inlines the rules of Tailwind that the page uses, in their order', () => {
  const html = clean(`<html>${link}<body class="md:flex bg-white w-1/2 2xl:p-1.5"></body></html>`);
  expect(html).not.toContain('<link');
  expect(html).toContain('.w-1\\/2{width:50%}');
  expect(html).toContain('@media (min-width:768px){.md\\:flex{display:flex}}');
  expect(html).toContain('.\\32xl\\:p-1\\.5{padding:.375rem}');
  expect(html).not.toContain('.flex{');
  expect(html.indexOf('box-sizing:border-box')).toBeLessThan(html.indexOf('.bg-white'));
  expect(clean('<html><body class="flex"></body></html>')).not.toContain('.flex');
});

test.each([
  ['a{background:url(https://example.invalid/x)}', 'a{background:url("data:image/svg+xml'],
  ['a{background:u\\72l("http://example.invalid")}', 'a{background:url("data:image/svg+xml'],
  ['a{background:image-set("x.png" 1x)}b{}', 'a{background:url()}b{}'],
  ['@import "https://example.invalid";a{}', '@removed "https://example.invalid";a{}'],
  ['@\\69mport url(//x);', '@removed url("data:'],
  ['@font-face{src:url(x)}', '@removed{src:url()}'],
  ['a{fill:url(#b)}', 'a{fill:url(#b)}'],
  ['.md\\:flex{content:"</style>"}', '.md\\:flex{content:"<\\/style>"}'],
])('takes the addresses out of the style %s', (css, expected) => {
  expect(withoutAddresses(css).slice(0, expected.length)).toBe(expected);
});

test('refuses pages without bounds', () => {
  expect(() => clean('x'.repeat(MAX_PAGE_CHARS + 1))).toThrow(/more than 200000 characters/);
  const multiplied =
    '<p>' + Array.from({ length: 1000 }, (_, i) => `<b a=${i}>`).join('') + '<p>x'.repeat(1000);
  expect(() => clean(multiplied)).toThrow(/more than 5000 elements/);
  expect(clean('<div>'.repeat(4000)).match(/<div>/g)!.length).toBeLessThanOrEqual(500);
});
