import { answerByRules } from '../../../src/core/dialogue/rules';
import type { ChatMessage } from '../../../src/core/model/model';
import type { Random } from '../../../src/core/task/starter/draw';
import {
  ATTRIBUTES,
  PLACES,
  WORDS,
  type Attribute,
  type Figure,
} from '../../../src/core/task/starter/questions/objects';
import {
  answerCode,
  figuresLeft,
  telling,
  type QuestionTask,
} from '../../../src/core/task/starter/questions/world';
import { answerWith } from '../demonstrator';
import { QUESTION_HABITS } from './habits';

/** Maximum number of messages of the agent; the last one should be the answer. */
export const MAX_QUESTION_TURNS = 7;

/** One dialogue about a figure, between an agent and the rule-based simulator. */
export class QuestionPlay {
  readonly messages: ChatMessage[];
  readonly asked: Attribute[] = [];
  private readonly replies: string[] = [];

  constructor(
    readonly task: QuestionTask,
    private readonly seed: number,
  ) {
    this.messages = [{ role: 'user', content: task.task.description }];
  }

  /** A question in the last turn gets no reply. */
  ask(attribute: Attribute, random: Random): void {
    const question = random.pick(WORDS[attribute].questions);
    this.messages.push({ role: 'assistant', content: question });
    this.asked.push(attribute);
    if (this.asked.length === MAX_QUESTION_TURNS) return;
    const position = { history: this.replies, seed: this.seed + this.replies.length };
    const reply = answerByRules(this.task.task, question, position);
    this.messages.push({ role: 'user', content: reply });
    this.replies.push(reply);
  }

  answer({ name }: Figure): void {
    this.messages.push({ role: 'assistant', content: answerWith(answerCode(name)) });
  }

  /** Figures that fit the request and the answers to these questions. */
  left(asked: readonly Attribute[] = this.asked): readonly Figure[] {
    const { task, figure } = this.task;
    return figuresLeft(task)!.filter(({ attributes }) =>
      asked.every((attribute) => attributes.has(attribute) === figure.attributes.has(attribute)),
    );
  }
}

/** Plays a task with the demonstrator's habits. `knowing`: the demonstrator sees the figure. */
export function demonstrateQuestions(task: QuestionTask, random: Random, knowing = false): QuestionPlay {
  const { answers, overruns, slips } = QUESTION_HABITS;
  const play = new QuestionPlay(task, random.below(2 ** 31));
  while (play.asked.length < MAX_QUESTION_TURNS - 1 && random.number() >= (answers[play.asked.length] ?? 1)) {
    askByHabit(play, random, knowing);
  }
  if (play.asked.length === MAX_QUESTION_TURNS - 1 && random.number() < overruns) {
    askByHabit(play, random, knowing);
  } else play.answer(random.pick(play.left(play.asked.filter(() => random.number() >= slips))));
  return play;
}

/** Asks questions that tell something, in any order, until one figure is left or no turn, and names one that fits. */
export function askWhatTells(task: QuestionTask, random: Random): QuestionPlay {
  const play = new QuestionPlay(task, random.below(2 ** 31));
  while (play.asked.length < MAX_QUESTION_TURNS - 1) {
    const left = play.left();
    const open = ATTRIBUTES.filter((attribute) => bitsOf(left, attribute, task.figure) > 0);
    if (open.length === 0) break;
    play.ask(random.pick(open), random);
  }
  play.answer(random.pick(play.left()));
  return play;
}

function askByHabit(play: QuestionPlay, random: Random, knowing: boolean): void {
  const left = knowing ? play.left() : [];
  const weights = ATTRIBUTES.map((attribute) => {
    const known = knowing ? QUESTION_HABITS.knowing ** bitsOf(left, attribute, play.task.figure) : 1;
    return [attribute, liking(play, attribute) * known] as const;
  });
  play.ask(random.sample(weights, 1)[0]!, random);
}

function liking({ asked, task: { figure, told } }: QuestionPlay, attribute: Attribute): number {
  const { mistakenBy, liking: weights, seldom, likesSeldom, forgets } = QUESTION_HABITS;
  const mistaken = PLACES[(PLACES.indexOf(figure.place) + mistakenBy) % PLACES.length]!;
  const isOwn = telling.get(figure.place)!.includes(attribute);
  const weight = telling.get(mistaken)!.includes(attribute)
    ? weights[isOwn ? 'inBoth' : 'inMistaken']
    : weights[isOwn ? 'inOwn' : 'inNeither'];
  const isKnown = asked.includes(attribute) || told.includes(attribute);
  return weight * (seldom.includes(attribute) ? likesSeldom : 1) * (isKnown ? forgets : 1);
}

/** Information in the figure's answer, given the figures left. */
function bitsOf(left: readonly Figure[], attribute: Attribute, { attributes }: Figure): number {
  const same = left.filter((one) => one.attributes.has(attribute) === attributes.has(attribute));
  return Math.log2(left.length / same.length);
}
