import type { ChatMessage } from '../../src/core/model/model';
import { deriveSeed } from '../../src/core/seed';
import { Random } from '../../src/core/task/starter/draw';
import type { DecisionKind } from '../../src/core/task/starter/program';
import { starterTasks, type Difficulty, type StarterTask } from '../../src/core/task/starter/world';
import { answerWith, askEverything, demonstrate } from './demonstrator';
import type { Document } from './document';
import { foreignTalk, HONEST } from './foreign';

/**
 * Weights of the sorts of documents. Demonstrations teach what to do. Programs after everything was asked or said teach
 * to write down all that is known, whatever was asked before: an agent that learns to ask better must not write worse
 * code for it.
 */
const SORTS = [
  ['demonstration', 32],
  ['demonstration to the critic', 34],
  ['everything asked', 14],
  ['everything asked to the critic', 4],
  ['everything said', 11],
  ['foreign', 5],
] as const;

const HARDNESS = [
  ['gentle', 2],
  ['standard', 6],
  ['hard', 2],
] as const;

/** Yields documents of the starter world without end. */
export function* functionDocuments(seed: number): Generator<Document, never> {
  const tasks = {
    standard: starterTasks({ split: 'train', seed, difficulty: 'standard' }),
    gentle: starterTasks({ split: 'train', seed, difficulty: 'gentle' }),
    hard: starterTasks({ split: 'train', seed, difficulty: 'hard' }),
  };
  const random = new Random(deriveSeed('demonstrations', seed));
  for (;;) yield drawDocument(tasks, random);
}

/** Draws a document about the next task. */
function drawDocument(
  tasks: Readonly<Record<Difficulty, Iterator<StarterTask, never>>>,
  random: Random,
): Document {
  const sort = random.sample(SORTS, 1)[0]!;
  if (sort === 'foreign') return { messages: foreignTalk(HONEST, random), learn: 'turns', foreign: true };
  const isDemonstration = sort === 'demonstration' || sort === 'demonstration to the critic';
  const task = isDemonstration ? tasks[random.sample(HARDNESS, 1)[0]!].next().value : instructive(tasks.hard);
  const hidden = task.task.hiddenInformation;
  switch (sort) {
    case 'demonstration':
      return { messages: demonstrate(task, random).messages, learn: 'turns' };
    case 'demonstration to the critic':
      return { messages: demonstrate(task, random, random.number() < 0.5).messages, hidden, learn: 'turns' };
    case 'everything asked':
      return { messages: askEverything(task, random).messages, learn: 'answer' };
    case 'everything asked to the critic':
      return { messages: askEverything(task, random).messages, hidden, learn: 'answer' };
    case 'everything said':
      return { messages: everythingSaid(task, random), learn: 'turns' };
  }
}

/** Kinds that few trades decide, and kinds that determine the meaning of others. */
const SELDOM: readonly DecisionKind[] = ['empty', 'strictness', 'order'];

/**
 * Returns the next task with a seldom decision; more and rarer decisions teach more where only the program is learned.
 */
function instructive(tasks: Iterator<StarterTask, never>): StarterTask {
  for (;;) {
    const task = tasks.next().value;
    if (task.decisions.some(({ kind }) => SELDOM.includes(kind))) return task;
  }
}

/** Returns the request together with all hidden information, and the right program. */
function everythingSaid({ task }: StarterTask, random: Random): ChatMessage[] {
  const said = random.shuffled(task.facts ?? []).map(({ answers }) => random.pick(answers));
  return [
    { role: 'user', content: [task.description, ...said].join(' ') },
    { role: 'assistant', content: answerWith(task.reference) },
  ];
}
