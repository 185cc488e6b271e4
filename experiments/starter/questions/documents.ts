import { deriveSeed } from '../../../src/core/seed';
import type { ChatMessage } from '../../../src/core/model/model';
import { Random } from '../../../src/core/task/starter/draw';
import { ATTRIBUTES, sentence } from '../../../src/core/task/starter/questions/objects';
import { questionTasks, type QuestionTask } from '../../../src/core/task/starter/questions/world';
import type { Split } from '../../../src/core/task/starter/splits';
import type { Difficulty } from '../../../src/core/task/starter/world';
import { answerWith } from '../demonstrator';
import type { Document } from '../document';
import { foreignTalk } from '../foreign';
import { askWhatTells, demonstrateQuestions } from './demonstrator';

/** The question model's reply to everything outside its world. */
export const HONEST_ABOUT_QUESTIONS =
  'I am only the starter model for twenty questions: I know the figures of animals of the starter world and nothing else, so please choose another model for this.';

/**
 * As for functions: demonstrations teach what to do, the others to name a figure that fits all that is known. Each animal
 * is the answer of one in 48, so these are many.
 */
const SORTS = [
  ['demonstration', 24],
  ['demonstration to the critic', 24],
  ['asked what tells', 18],
  ['asked what tells to the critic', 4],
  ['everything said', 25],
  ['foreign', 5],
] as const;

/** Shares of the splits, as in the world: a model cannot name a figure of which it has never read. */
const SHARES: readonly (readonly [Split, number])[] = [
  ['train', 70],
  ['development', 10],
  ['test', 20],
];

const HARDNESS: readonly (readonly [Difficulty, number])[] = [
  ['gentle', 2],
  ['standard', 6],
  ['hard', 2],
];

/**
 * Yields documents of the world of twenty questions without end, about figures of all splits. What is held out is held
 * out of the training of agents, which learn from tasks of the training split alone.
 */
export function* questionDocuments(seed: number): Generator<Document, never> {
  const random = new Random(deriveSeed('question demonstrations', seed));
  const tasks = SHARES.flatMap(([split, share]) =>
    HARDNESS.map(([difficulty, of]) => [questionTasks({ split, seed, difficulty }), share * of] as const),
  );
  for (;;) {
    const sort = random.sample(SORTS, 1)[0]!;
    if (sort === 'foreign') {
      yield { messages: foreignTalk(HONEST_ABOUT_QUESTIONS, random), learn: 'turns', foreign: true };
    } else yield drawDocument(sort, random.sample(tasks, 1)[0]!.next().value, random);
  }
}

function drawDocument(
  sort: Exclude<(typeof SORTS)[number][0], 'foreign'>,
  task: QuestionTask,
  random: Random,
): Document {
  const hidden = task.task.hiddenInformation;
  switch (sort) {
    case 'demonstration':
      return { messages: demonstrateQuestions(task, random).messages, learn: 'turns' };
    case 'demonstration to the critic': {
      const { messages } = demonstrateQuestions(task, random, random.number() < 0.5);
      return { messages, hidden, learn: 'turns' };
    }
    case 'asked what tells':
      return { messages: askWhatTells(task, random).messages, learn: 'answer' };
    case 'asked what tells to the critic':
      return { messages: askWhatTells(task, random).messages, hidden, learn: 'answer' };
    case 'everything said':
      return { messages: everythingSaid(task, random), learn: 'turns' };
  }
}

/** Returns the request together with all that is true and false of the figure, and its name. */
function everythingSaid({ task, figure, told }: QuestionTask, random: Random): ChatMessage[] {
  const said = random
    .shuffled(ATTRIBUTES.filter((attribute) => !told.includes(attribute)))
    .map((attribute) => sentence(attribute, figure.attributes.has(attribute)));
  return [
    { role: 'user', content: [task.description, ...said].join(' ') },
    { role: 'assistant', content: answerWith(task.reference) },
  ];
}
