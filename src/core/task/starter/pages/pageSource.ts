import { PAGE_OPTIONS, type PageDecision, type PageValues } from './decisions';
import type { PageTrade } from './trades';

/**
 * A page in pieces, whose concatenation is the HTML: what all pages or all pages of a trade have, and one piece for each
 * value. A section is one value, with what it holds.
 */
export function pagePieces(trade: PageTrade, values: PageValues): readonly string[] {
  const piece = (decision: PageDecision): string => {
    const option = PAGE_OPTIONS[decision][values[decision]];
    if (option === undefined) throw new Error(`No page has ${values[decision]} for ${decision}.`);
    return option.html;
  };
  const picture = [
    '<section class="mb-8 flex ',
    piece('side'),
    '">\n<img src="https://picsum.photos/id/48/320/200" class="',
    piece('corners'),
    `">\n<p class="px-8">${trade.about}</p>\n</section>\n`,
  ];
  const list = [
    '<section class="mb-8">\n<ul class="grid gap-4 ',
    piece('columns'),
    `">\n${trade.items.map((item) => `<li class="p-4 bg-white border">${item}</li>\n`).join('')}</ul>\n</section>\n`,
  ];
  const sections = piece('order') === 'picture' ? [...picture, ...list] : [...list, ...picture];
  return [
    START,
    piece('background'),
    '">\n<header class="p-4 text-white ',
    piece('bar'),
    `">${trade.brand}</header>\n<main class="p-8">\n<h1 class="mb-8 `,
    piece('alignment'),
    ' ',
    piece('size'),
    `">${trade.title}</h1>\n`,
    ...sections,
    THIRD_SECTIONS[piece('third')]!,
    '<button class="px-4 py-2 ',
    piece('action'),
    '">',
    piece('label'),
    '</button>\n</main>\n<footer class="p-4 ',
    piece('foot'),
    '">Main Street 1</footer>\n</body>\n</html>',
  ];
}

const START =
  '<html>\n<head>\n<link href="https://cdn.jsdelivr.net/npm/tailwindcss@2.2.19/dist/tailwind.min.css" rel="stylesheet">\n' +
  '</head>\n<body class="';

const section = (content: string): string => `<section class="mb-8">\n${content}\n</section>\n`;

const THIRD_SECTIONS: Readonly<Record<string, string>> = {
  quote: section('<blockquote class="italic">I always come back.</blockquote>'),
  form: section('<form><input class="border p-2" placeholder="Your name"></form>'),
  table: section('<table><tr><td>Monday to Friday</td><td class="px-4">9 to 5</td></tr></table>'),
};
