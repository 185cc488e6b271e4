import { deriveSeed } from '../../../src/core/seed';
import type { ChatMessage } from '../../../src/core/model/model';
import { Random } from '../../../src/core/task/starter/draw';
import { pageTasks, type PageWorldTask } from '../../../src/core/task/starter/pages/world';
import type { Difficulty } from '../../../src/core/task/starter/world';
import type { Document } from '../document';
import { foreignTalk } from '../foreign';
import { applyEverything, demonstratePage, messageWith, wishOf } from './demonstrator';

/** The page model's reply to everything outside the world of pages. */
export const HONEST_ABOUT_PAGES =
  'I am only the starter model for pages: I know the small web pages of the starter world and nothing else, so please choose another model for this.';

/** As for functions: demonstrations teach what to do, the others to draw all that is known. */
const SORTS = [
  ['demonstration', 36],
  ['demonstration to the critic', 34],
  ['everything applied', 14],
  ['everything applied to the critic', 4],
  ['everything said', 7],
  ['foreign', 5],
] as const;

const HARDNESS = [
  ['gentle', 2],
  ['standard', 6],
  ['hard', 2],
] as const satisfies readonly (readonly [Difficulty, number])[];

/** Yields documents of the world of pages without end. */
export function* pageDocuments(seed: number): Generator<Document, never> {
  const tasks = {
    standard: pageTasks({ split: 'train', seed, difficulty: 'standard' }),
    gentle: pageTasks({ split: 'train', seed, difficulty: 'gentle' }),
    hard: pageTasks({ split: 'train', seed, difficulty: 'hard' }),
  };
  const random = new Random(deriveSeed('page demonstrations', seed));
  for (;;) {
    const sort = random.sample(SORTS, 1)[0]!;
    if (sort === 'foreign') {
      yield { messages: foreignTalk(HONEST_ABOUT_PAGES, random), learn: 'turns', foreign: true };
    } else yield drawDocument(sort, tasks[random.sample(HARDNESS, 1)[0]!].next().value, random);
  }
}

function drawDocument(
  sort: Exclude<(typeof SORTS)[number][0], 'foreign'>,
  task: PageWorldTask,
  random: Random,
): Document {
  const hidden = task.task.reference;
  switch (sort) {
    case 'demonstration':
      return { messages: demonstratePage(task, random).messages, learn: 'turns' };
    case 'demonstration to the critic': {
      const { messages } = demonstratePage(task, random, random.number() < 0.5);
      return { messages, hidden, learn: 'turns' };
    }
    case 'everything applied':
      return { messages: applyEverything(task, random).messages, learn: 'answer' };
    case 'everything applied to the critic':
      return { messages: applyEverything(task, random).messages, hidden, learn: 'answer' };
    case 'everything said':
      return { messages: everythingSaid(task, random), learn: 'turns' };
  }
}

/** Returns the request together with all that is wanted otherwise than usual, and the wanted page. */
function everythingSaid(task: PageWorldTask, random: Random): ChatMessage[] {
  const said = random.shuffled(task.departures).map(({ decision }) => wishOf(task, decision));
  return [
    { role: 'user', content: [task.task.description, ...said].join(' ') },
    { role: 'assistant', content: messageWith(task.task.reference, true) },
  ];
}
