import { expect, it } from 'vitest';
import { checkPage } from '../../../src/core/page/checks';
import type { PageProperty } from '../../../src/core/pageCheck';
import { sheet } from '../../fixtures/pages';

const TAILWIND =
  '<link href="https://cdn.jsdelivr.net/npm/tailwindcss@2.2.19/dist/tailwind.min.css" rel="stylesheet">';

const found = (body: string, where: string, property: PageProperty, head = TAILWIND): string | undefined =>
  checkPage(
    `<html><head>${head}</head><body class="bg-gray-100">${body}</body></html>`,
    [{ name: 'it', where, property, equals: '' }],
    sheet,
  )[0]!.found;

it.each<[string, string, PageProperty, string | undefined]>([
  ['<p>A  <b>bold</b>\n word</p>', 'p', 'text', 'A bold word'],
  ['<p>One<span class="hidden">two</span><i hidden>three</i></p>', 'p', 'text', 'One'],
  ['<input type="submit" value="Send">', 'button', 'text', 'Send'],
  ['<p>One</p><div><p>Two</p><p>Three</p></div>', 'div p:nth(2)', 'text', 'Three'],
  ['<p>One</p>', 'main p', 'text', undefined],
  ['<p>One</p>', 'p', 'background', '#f3f4f6'],
  ['<div class="bg-red-500"><p>One</p></div>', 'p', 'background', '#ef4444'],
  ['<p style="background: #00f url(x) no-repeat">One</p>', 'p', 'background', '#0000ff'],
  ['<p class="bg-black bg-opacity-50">One</p>', 'p', 'background', '#7a7a7b'],
  ['<p class="bg-red-500" style="background-color:rgb(1, 2, 3)">One</p>', 'p', 'background', '#010203'],
  ['<p class="hover:bg-red-500">One</p>', 'p', 'background', '#f3f4f6'],
  ['<div class="text-white"><p>One</p></div>', 'p', 'color', '#ffffff'],
  ['<div class="text-center"><p>One</p></div>', 'p', 'alignment', 'center'],
  ['<p class="text-xl md:text-4xl">One</p>', 'p', 'size', '36'],
  ['<h1>One</h1>', 'h1', 'size', '16'],
  ['<ul class="grid grid-cols-2 lg:grid-cols-4 2xl:grid-cols-6"></ul>', 'ul', 'columns', '4'],
  ['<ul style="display:grid; grid-template-columns: 1fr minmax(0, 2fr)"></ul>', 'ul', 'columns', '2'],
  ['<ul class="grid-cols-3"></ul>', 'ul', 'columns', '1'],
  ['<img class="rounded-full">', 'img', 'corners', '9999'],
  ['<div class="flex"><p>One</p><div><img></div></div>', 'img', 'side', 'right'],
  ['<div class="flex flex-row-reverse"><p>One</p><img></div>', 'img', 'side', 'left'],
  ['<div><p>One</p><img></div>', 'img', 'side', undefined],
  ['<section><ul><li>One</ul></section>', 'section', 'content', 'list'],
  ['<section><ul><li><img></ul></section>', 'section', 'content', 'picture'],
  ['<section>One</section>', 'section', 'content', 'text'],
])('reads %s', (body, where, property, expected) => {
  expect(found(body, where, property)).toBe(expected);
});

it('reads no class of Tailwind on a page that does not link to it', () => {
  expect(found('<p class="text-4xl">One</p>', 'p', 'size', '')).toBe('16');
  expect(found('<h1>One</h1>', 'h1', 'size', '')).toBe('32');
});

it('ends on pages that are nested deeply', () => {
  const deep = '<div class="p-4">'.repeat(4000);
  expect(found(`${deep}One`, 'div div', 'text')).toBe('');
  expect(() => found('<b>'.repeat(6000), 'b', 'text')).toThrow('elements');
});
