import { Fault } from '../../../fault';
import type { ProgramTask, Task } from '../../task';
import { Random } from '../draw';
import { contentId, hash, splitOf, worldOf, type Split } from '../splits';
import type { Difficulty, TaskDraw } from '../world';
import {
  ATTRIBUTES,
  FIGURES,
  PLACES,
  replies,
  sentence,
  WORDS,
  type Attribute,
  type Figure,
  type Place,
} from './objects';

/** Number of attributes that the request tells. */
export const TOLD = { gentle: 3, standard: 2, hard: 1 } as const satisfies Readonly<
  Record<Difficulty, number>
>;

export interface QuestionTask {
  readonly task: ProgramTask;
  readonly figure: Figure;
  /** What the request tells besides the place. */
  readonly told: readonly Attribute[];
}

const OPENERS = [
  'I think of a figure from our shelf of animals.',
  'There is a figure on my desk, and I wonder whether you find out which.',
  'We play at guessing figures in our break, and it is your turn.',
  'Guess which of our figures I have in mind.',
  'Please find out which figure I hold in my hand.',
  'One of our figures is gone, and I know which.',
];

const REQUESTS = [
  'Ask me what can be answered with yes or no, and let the function return its material and its animal.',
  'I only say yes or no. The function returns the material and the animal.',
  'Put questions to me, then write a function that returns material and animal.',
  'Write a function that returns the material and the animal once you know both.',
];

const HOMES: Readonly<Record<Place, string>> = {
  farm: 'The animal lives on a farm.',
  forest: 'The animal lives in the forest.',
  savanna: 'The animal lives on the savanna.',
  sea: 'The animal lives in the sea.',
  river: 'The animal lives by the river.',
  jungle: 'The animal lives in the jungle.',
};

const SIGNATURE = 'The signature of the function is: def answer()';

/** Sentences of a request but for those about attributes, in which it tells nothing of the figure but its place. */
export const REQUEST_SENTENCES: readonly string[] = [
  ...OPENERS,
  ...Object.values(HOMES),
  ...REQUESTS,
  SIGNATURE,
];

/**
 * Yields tasks, no two the same, and the same ones for the same seed. A figure is in one split alone; its material and
 * its animal are in all of them, so that what is learned of these holds for figures never played before.
 * @throws {Fault} `task/no-more-tasks` when all have been drawn
 */
export function* questionTasks({ split, seed, difficulty }: TaskDraw): Generator<QuestionTask, never> {
  const random = new Random(hash(`questions ${split} ${difficulty} ${seed}`));
  const figures = FIGURES.filter(({ name }) => splitOf(name) === split);
  const seen = new Set<string>();
  const all = figures.reduce((sum, { place }) => sum + requestCount(place, TOLD[difficulty]), 0);
  while (seen.size < all) {
    const figure = random.pick(figures);
    const told = random.shuffled(telling.get(figure.place)!).slice(0, TOLD[difficulty]);
    const description = describe(figure, told, random);
    const key = `${description} ${figure.name}`;
    if (seen.has(key)) continue;
    seen.add(key);
    yield { task: taskOf(split, figure, description), figure, told };
  }
  throw new Fault(
    'task/no-more-tasks',
    `The world of twenty questions has only ${all} tasks of the split ${split} and difficulty ${difficulty}. Ask for fewer, or for another difficulty.`,
  );
}

/** Number of requests for a figure of this place: those of its attributes are told in any order. */
const requestCount = (place: Place, told: number): number =>
  Array.from({ length: told }, (_, i) => telling.get(place)!.length - i).reduce(
    (product, choices) => product * choices,
    OPENERS.length * REQUESTS.length,
  );

/** The message's program that names a figure; with the task's own it is the reference. */
export const answerCode = (name: string): string => `def answer():\n    return "${name}"`;

/** All figures that a request leaves, in the order of `FIGURES`; undefined for a task of another world. */
export function figuresLeft(task: Pick<Task, 'id' | 'description'>): readonly Figure[] | undefined {
  if (worldOf(task) !== 'twenty-questions') return undefined;
  const { description } = task;
  return FIGURES.filter(
    ({ place, attributes }) =>
      description.includes(HOMES[place]) &&
      ATTRIBUTES.every((attribute) => !description.includes(sentence(attribute, !attributes.has(attribute)))),
  );
}

/** The figure that a program names, as the reference does. */
export const figureIn = (code: string): Figure | undefined =>
  FIGURES.find(({ name }) => code.includes(`"${name}"`));

/** Those that differ among the figures of a place. */
export const telling: ReadonlyMap<Place, readonly Attribute[]> = new Map(
  PLACES.map((place) => {
    const figures = FIGURES.filter((figure) => figure.place === place);
    return [
      place,
      ATTRIBUTES.filter(
        (attribute) => new Set(figures.map(({ attributes }) => attributes.has(attribute))).size === 2,
      ),
    ];
  }),
);

const describe = ({ place, attributes }: Figure, told: readonly Attribute[], random: Random): string =>
  [
    random.pick(OPENERS),
    HOMES[place],
    ...told.map((attribute) => sentence(attribute, attributes.has(attribute))),
    random.pick(REQUESTS),
    SIGNATURE,
  ].join(' ');

function taskOf(split: Split, { name, attributes }: Figure, description: string): ProgramTask {
  const reference = answerCode(name);
  return {
    id: `questions-${split}-${contentId(description, reference)}`,
    description,
    reference,
    testCases: [
      { name: 'figure', call: 'answer()' },
      { name: 'material', call: 'answer().split()[0]' },
      { name: 'animal', call: 'answer().split()[-1]' },
    ],
    hiddenInformation: reference,
    facts: ATTRIBUTES.map((attribute) => ({
      topic: attribute,
      keywords: WORDS[attribute].keywords,
      answers: replies(attribute, attributes.has(attribute)),
    })),
    source: 'Tandem world of twenty questions',
    license: 'MIT',
  };
}
