import type { ChatMessage } from '../src/core/model/model';
import type { Random } from '../src/core/task/starter/draw';
import type { Kind } from '../src/core/task/starter/kinds';
import type { Difficulty, StarterTask } from '../src/core/task/starter/world';
import { answerWith, askEverything, demonstrate } from './demonstrator';
import { foreignRequest, HONEST } from './foreign';

/** What the starter model learns from. */
export interface Document {
  readonly messages: readonly ChatMessage[];
  /** The hidden code in front, as the critic reads it. */
  readonly hidden?: string;
  /** All messages of the agent, or only the program of the last one. */
  readonly learn: 'turns' | 'code';
  /** It is about something else than the starter world. */
  readonly foreign?: true;
}

/**
 * How often each sort of document is written. Demonstrations teach what to do. Programs after everything was asked or
 * said teach to write down what one knows, whatever was asked before: an agent that learns to ask better must not
 * write worse for it.
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

/** Draws one document about the next task. */
export function drawDocument(
  tasks: Readonly<Record<Difficulty, Iterator<StarterTask, never>>>,
  random: Random,
): Document {
  const sort = random.sample(SORTS, 1)[0]!;
  if (sort === 'foreign') return { messages: foreignTalk(random), learn: 'turns', foreign: true };
  const isDemonstration = sort === 'demonstration' || sort === 'demonstration to the critic';
  const task = isDemonstration ? tasks[random.sample(HARDNESS, 1)[0]!].next().value : instructive(tasks.hard);
  const hidden = task.task.hiddenInformation;
  switch (sort) {
    case 'demonstration':
      return { messages: demonstrate(task, random).messages, learn: 'turns' };
    case 'demonstration to the critic':
      return { messages: demonstrate(task, random, random.number() < 0.5).messages, hidden, learn: 'turns' };
    case 'everything asked':
      return { messages: askEverything(task, random).messages, learn: 'code' };
    case 'everything asked to the critic':
      return { messages: askEverything(task, random).messages, hidden, learn: 'code' };
    case 'everything said':
      return { messages: everythingSaid(task, random), learn: 'turns' };
  }
}

/** What few trades decide, and what decides how other things are meant. */
const SELDOM: readonly Kind[] = ['empty', 'strictness', 'order'];

/** Where only the program is to be learned, more decisions teach more, and most of all what is seldom asked about. */
function instructive(tasks: Iterator<StarterTask, never>): StarterTask {
  for (;;) {
    const task = tasks.next().value;
    if (task.decisions.some(({ kind }) => SELDOM.includes(kind))) return task;
  }
}

/** The request with all that is hidden said beside it, and the right program. */
function everythingSaid({ task }: StarterTask, random: Random): ChatMessage[] {
  const said = random.shuffled(task.facts ?? []).map(({ answers }) => random.pick(answers));
  return [
    { role: 'user', content: [task.description, ...said].join(' ') },
    { role: 'assistant', content: answerWith(task.reference) },
  ];
}

/** A request of something else, once or more, and the honest answer each time. */
function foreignTalk(random: Random): ChatMessage[] {
  return Array.from({ length: 1 + random.below(3) }, (): ChatMessage[] => [
    { role: 'user', content: foreignRequest(random) },
    { role: 'assistant', content: HONEST },
  ]).flat();
}
