import { colBenchPageProtocol } from '../../../src/core/dialogue/protocol';
import { replyTelling } from '../../../src/core/dialogue/pageRules';
import type { ChatMessage } from '../../../src/core/model/model';
import { checkInWords } from '../../../src/core/page/checks';
import type { Random } from '../../../src/core/task/starter/draw';
import {
  habitsOf,
  PAGE_DECISIONS,
  PAGE_OPTIONS,
  PAGE_TRADES,
  pageFor,
  type PageDecision,
  type PageValues,
  type PageWorldTask,
} from '../../../src/core/task/starter/pages/world';
import { PAGE_HABITS } from './habits';

/** Maximum number of drafts. Two differences are told after each but the last. */
export const MAX_DRAFTS = 4;

type Changes = Partial<Record<PageDecision, string>>;

/** One dialogue about a page, between an agent and the rule-based simulator. */
export class PagePlay {
  readonly messages: ChatMessage[];
  readonly drafts: PageValues[] = [];
  /** What the last reply told. */
  told: Changes = {};
  /** True once the collaborator said that nothing is left to change. */
  isRight = false;
  private readonly replies: string[] = [];

  constructor(
    readonly task: PageWorldTask,
    readonly seed: number,
  ) {
    this.messages = [{ role: 'user', content: task.task.description }];
  }

  show(values: PageValues, isAnswer: boolean): void {
    const { task, replies } = this;
    this.messages.push({ role: 'assistant', content: messageWith(pageFor(task, values), isAnswer) });
    this.drafts.push(values);
    if (isAnswer || this.drafts.length === MAX_DRAFTS) return;
    const wrong = PAGE_DECISIONS.filter((decision) => values[decision] !== task.values[decision]);
    const position = { history: replies, seed: this.seed, replyLimit: colBenchPageProtocol.replyLimit };
    const reply = replyTelling(
      wrong.map((decision) => wishOf(task, decision)),
      position,
    );
    this.messages.push({ role: 'user', content: reply });
    this.replies.push(reply);
    const told = wrong.filter((decision) => reply.includes(wishOf(task, decision)));
    this.told = Object.fromEntries(told.map((decision) => [decision, task.values[decision]]));
    this.isRight = wrong.length === 0;
  }
}

/** Returns what the rules say when a page is not as wanted in this decision. */
export function wishOf({ task }: PageWorldTask, decision: PageDecision): string {
  const check = task.checks![PAGE_DECISIONS.indexOf(decision)]!;
  return checkInWords({ check, found: undefined, isThere: true, passed: false });
}

/** Returns the message with which an agent shows a page. */
export const messageWith = (html: string, isAnswer: boolean): string =>
  `OUTPUT:\n${isAnswer ? 'I WANT TO ANSWER:\n' : ''}${html}`;

/** Plays a task with the demonstrator's habits. `knowing`: the demonstrator sees the wanted page. */
export function demonstratePage(task: PageWorldTask, random: Random, knowing = false): PagePlay {
  const play = new PagePlay(task, random.below(2 ** 31));
  const first = firstDraft(task, random, knowing);
  let values = first;
  for (let number = 1; number <= MAX_DRAFTS; number++) {
    if (number > 1) values = nextDraft(play, first, random);
    const isAnswer = random.number() < chanceOfAnswer(play, number);
    play.show(values, isAnswer);
    if (isAnswer) break;
  }
  return play;
}

/** Shows drafts, applies all that is told, and answers with the last one. */
export function applyEverything(task: PageWorldTask, random: Random): PagePlay {
  const play = new PagePlay(task, random.below(2 ** 31));
  const drafts = 2 + random.below(MAX_DRAFTS - 1);
  play.show(firstDraft(task, random, false), false);
  while (play.drafts.length < drafts) {
    const isLast = play.drafts.length === drafts - 1 || play.isRight;
    play.show({ ...play.drafts.at(-1)!, ...play.told }, isLast);
    if (isLast) break;
  }
  return play;
}

function firstDraft(task: PageWorldTask, random: Random, knowing: boolean): PageValues {
  const [own, mistaken] = [habitsOf(task), mistakenFor(task)];
  const [thought, other] = random.number() < PAGE_HABITS.recognizes ? [own, mistaken] : [mistaken, own];
  const { first } = PAGE_HABITS;
  const values = PAGE_DECISIONS.map((decision) => {
    const options = Object.keys(PAGE_OPTIONS[decision]);
    const weights = options.map((value) => {
      const liking =
        first.any / options.length +
        (value === thought[decision] ? first.thought : 0) +
        (value === other[decision] ? first.other : 0);
      const isKnown = knowing && value === task.values[decision];
      return [value, liking * (isKnown ? PAGE_HABITS.knowing : 1)] as const;
    });
    return [decision, random.sample(weights, 1)[0]!] as const;
  });
  return Object.fromEntries(values) as Record<PageDecision, string>;
}

/** How pages of the trade usually look for which the demonstrator mistakes the task's. */
export function mistakenFor({ trade }: PageWorldTask): PageValues {
  const place = PAGE_TRADES.findIndex(({ name }) => name === trade);
  return PAGE_TRADES[(place + PAGE_HABITS.mistakenBy) % PAGE_TRADES.length]!.habits;
}

function nextDraft({ drafts, told }: PagePlay, first: PageValues, random: Random): PageValues {
  const values = PAGE_DECISIONS.map((decision) => {
    const before = drafts.at(-1)![decision];
    const wanted = told[decision];
    if (wanted === undefined) {
      return [decision, random.number() < PAGE_HABITS.forgets ? first[decision] : before] as const;
    }
    const applies = PAGE_HABITS.overlooked.includes(decision)
      ? PAGE_HABITS.appliesOverlooked
      : PAGE_HABITS.applies;
    return [decision, random.number() < applies ? wanted : before] as const;
  });
  return Object.fromEntries(values) as Record<PageDecision, string>;
}

function chanceOfAnswer({ isRight }: PagePlay, draft: number): number {
  if (isRight) return PAGE_HABITS.finishes;
  return PAGE_HABITS.stops[draft - 1] ?? PAGE_HABITS.closes;
}
