import type { PageTask } from '../../task';
import { Random, withoutRepeats } from '../draw';
import { contentId, hash, splitOf, type Split } from '../splits';
import type { Difficulty, TaskDraw } from '../world';
import { looks, PAGE_DECISIONS, PAGE_OPTIONS, type PageDecision, type PageValues } from './decisions';
import { PAGE_TRADES, type PageTrade } from './trades';

export { PAGE_DECISIONS, PAGE_OPTIONS, type PageDecision, type PageValues } from './decisions';
export { PAGE_TRADES } from './trades';

/** In how many decisions a page departs from its trade's habits, and the share of these that its request hints at. */
export const PAGE_DIFFICULTIES = {
  gentle: { fewest: 2, most: 4, cued: 0.85 },
  standard: { fewest: 3, most: 6, cued: 0.5 },
  hard: { fewest: 5, most: 8, cued: 0.3 },
} as const satisfies Readonly<Record<Difficulty, unknown>>;

/** A decision that is not as the trade usually has it. */
interface Departure {
  readonly decision: PageDecision;
  /** True when the request hints at it; it never hints at the value. */
  readonly cued: boolean;
}

export interface PageWorldTask {
  readonly task: PageTask;
  readonly trade: string;
  /** Trade and departures; tasks of one structure are all in one split. */
  readonly structure: string;
  readonly departures: readonly Departure[];
  /** Of the wanted page. */
  readonly values: PageValues;
}

/** Yields tasks without end, no two the same, and the same ones for the same seed. */
export function pageTasks({ split, seed, difficulty }: TaskDraw): Generator<PageWorldTask, never> {
  const random = new Random(hash(`pages ${split} ${difficulty} ${seed}`));
  return withoutRepeats(() => drawTask(split, difficulty, random));
}

/** The page of the task's trade with these values; with the task's own it is the reference. */
export const pageFor = ({ trade }: Pick<PageWorldTask, 'trade'>, values: PageValues): string =>
  pagePieces(tradeOf(trade), values).join('');

/** How a page of this trade usually looks. */
export const habitsOf = ({ trade }: Pick<PageWorldTask, 'trade'>): PageValues => tradeOf(trade).habits;

export const tradeOf = (name: string): PageTrade => PAGE_TRADES.find((trade) => trade.name === name)!;

/** Undefined when the draw belongs to another split. */
function drawTask(split: Split, difficulty: Difficulty, random: Random): PageWorldTask | undefined {
  const trade = random.pick(PAGE_TRADES);
  const { fewest, most, cued } = PAGE_DIFFICULTIES[difficulty];
  const drawn = random.shuffled(PAGE_DECISIONS).slice(0, fewest + random.below(most - fewest + 1));
  const departed = PAGE_DECISIONS.filter((decision) => drawn.includes(decision));
  const structure = `${trade.name} ${departed.join(' ')}`;
  if (splitOf(structure) !== split) return undefined;
  const others = departed.map((decision) => {
    const options = Object.keys(PAGE_OPTIONS[decision]);
    return [decision, random.pick(options.filter((value) => value !== trade.habits[decision]))] as const;
  });
  const values: PageValues = { ...trade.habits, ...Object.fromEntries(others) };
  const departures = departed.map((decision) => ({ decision, cued: random.number() < cued }));
  const description = describe(trade, departures, random);
  const reference = pageFor({ trade: trade.name }, values);
  const task: PageTask = {
    kind: 'page',
    id: `pages-${split}-${contentId(description, reference)}`,
    description,
    reference,
    checks: PAGE_DECISIONS.map((decision) => {
      const { name, where, property } = looks[decision];
      return { name, where, property, equals: PAGE_OPTIONS[decision][values[decision]]!.equals };
    }),
    source: 'Tandem page world',
    license: 'MIT',
  };
  return { task, trade: trade.name, structure, departures, values };
}

const CONTENTS = [
  'It has a bar, a title, three sections, a button and a foot.',
  'I think of a bar, a title, a picture, a list, a button and a foot.',
];

const describe = (trade: PageTrade, departures: readonly Departure[], random: Random): string =>
  [
    random.pick(trade.openers),
    random.pick(CONTENTS),
    ...random.shuffled(
      departures.filter(({ cued }) => cued).map(({ decision }) => random.pick(looks[decision].cues)),
    ),
  ].join(' ');

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
