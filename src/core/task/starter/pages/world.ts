import type { PageTask } from '../../task';
import { Random, withoutRepeats } from '../draw';
import { contentId, hash, splitOf, type Split } from '../splits';
import type { Difficulty } from '../world';
import { looks, PAGE_DECISIONS, PAGE_OPTIONS, type PageDecision, type PageValues } from './decisions';
import { pagePieces } from './pageSource';
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
export interface Departure {
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
export function pageTasks(options: {
  split: Split;
  seed: number;
  difficulty: Difficulty;
}): Generator<PageWorldTask, never> {
  const { split, seed, difficulty } = options;
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
