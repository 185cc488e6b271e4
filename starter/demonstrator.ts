import { answerByRules } from '../src/core/dialogue/rules';
import type { ChatMessage } from '../src/core/model/model';
import { DOMAINS } from '../src/core/task/starter/domains';
import { KINDS, type Kind, type Value } from '../src/core/task/starter/kinds';
import {
  codeFor,
  IDLE_TOPICS,
  idleQuestions,
  questionsAbout,
  VAGUE_QUESTIONS,
  type StarterTask,
} from '../src/core/task/starter/world';
import { HABITS } from './habits';
import type { Random } from '../src/core/task/starter/draw';

/** Most messages of the agent; the last one ought to be the answer. */
export const MAX_TURNS = 6;

const IDLE_OPENINGS = ['hints', 'docstring'] as const;

type Known = Partial<Record<Kind, Value>>;

/** One dialogue about a task between an agent and the rules. */
export class Play {
  readonly messages: ChatMessage[];
  readonly told: Known = {};
  /** Everything asked so far, in its wordings. */
  readonly asked: { readonly about: Kind | 'idle' | 'vague'; readonly question: string }[] = [];
  private readonly replies: string[] = [];

  constructor(
    readonly task: StarterTask,
    private readonly seed: number,
  ) {
    this.messages = [{ role: 'user', content: task.task.description }];
  }

  /** Nobody replies to a question that takes the last turn. */
  ask(about: Kind | 'idle' | 'vague', question: string): void {
    this.messages.push({ role: 'assistant', content: question });
    this.asked.push({ about, question });
    if (this.asked.length === MAX_TURNS) return;
    const position = { history: this.replies, seed: this.seed + this.replies.length };
    const reply = answerByRules(this.task.task, question, position);
    this.messages.push({ role: 'user', content: reply });
    this.replies.push(reply);
    const decision = this.task.decisions.find(({ kind }) => kind === about);
    if (decision !== undefined) this.told[decision.kind] = decision.value;
  }

  answer(values: Known): void {
    this.messages.push({ role: 'assistant', content: answerWith(codeFor(this.task, values)) });
  }
}

/** The message with which an agent answers. */
export const answerWith = (code: string): string => `I WANT TO ANSWER:\n\`\`\`python\n${code}\n\`\`\``;

/** Plays a task with the demonstrator's habits; `knowing`: and with the hidden code before it. */
export function demonstrate(task: StarterTask, random: Random, knowing = false): Play {
  const play = new Play(task, random.below(2 ** 31));
  while (play.asked.length < MAX_TURNS - 1 && random.number() >= (HABITS.answers[play.asked.length] ?? 1)) {
    askByHabit(play, random, knowing);
  }
  const isOut = play.asked.length === MAX_TURNS - 1 && random.number() < HABITS.overruns;
  if (isOut) askByHabit(play, random, knowing);
  else play.answer(believed(play, random));
  return play;
}

/** Asks about every decision and some other things, in any order, and answers right. */
export function askEverything(task: StarterTask, random: Random): Play {
  const play = new Play(task, random.below(2 ** 31));
  const decided = task.decisions.map(({ kind }) => kind);
  const room = MAX_TURNS - 1 - decided.length;
  const others = Array.from({ length: random.below(room + 1) }, () =>
    random.pick([...KINDS, 'idle', 'vague'] as const),
  );
  for (const about of random.shuffled([...decided, ...others])) askAbout(play, about, random);
  play.answer(play.told);
  return play;
}

function askByHabit(play: Play, random: Random, knowing: boolean): void {
  const { asked, task } = play;
  const idle = IDLE_OPENINGS[asked.length];
  if (idle !== undefined && random.number() < HABITS.opensIdly[asked.length]!) {
    play.ask('idle', idleQuestions(task, idle)[0]!);
    return;
  }
  const fresh = KINDS.filter((kind) => !asked.some(({ about }) => about === kind));
  const choice = random.sample<Kind | 'idle' | 'vague'>(
    [
      ...fresh.map((kind) => [kind, liking(task, kind, knowing)] as const),
      ['idle', HABITS.idle],
      ['vague', HABITS.vague],
    ],
    1,
  )[0]!;
  askAbout(play, choice, random);
}

function liking({ domain, decisions }: StarterTask, kind: Kind, knowing: boolean): number {
  const place = thought(domain, kind);
  const hint = place === 'inOwn' || place === 'inNeither' ? HABITS.hintedInOwn : HABITS.hinted;
  const isHinted = decisions.some((decision) => decision.kind === kind && decision.cued);
  const isKnown = knowing && decisions.some((decision) => decision.kind === kind);
  return HABITS.liking[place] * (isHinted ? hint : 1) * (isKnown ? HABITS.knowing : 1);
}

/** Where a kind of decision is usual: in the task's trade, in that for which the demonstrator takes it, in both or neither. */
export function thought(domain: string, kind: Kind): keyof typeof HABITS.liking {
  const place = DOMAINS.findIndex(({ name }) => name === domain);
  const mistaken = DOMAINS[(place + HABITS.mistakenBy) % DOMAINS.length]!;
  const isOwn = DOMAINS[place]!.decisions[kind] !== undefined;
  if (mistaken.decisions[kind] === undefined) return isOwn ? 'inOwn' : 'inNeither';
  return isOwn ? 'inBoth' : 'inMistaken';
}

function askAbout(play: Play, about: Kind | 'idle' | 'vague', random: Random): void {
  play.ask(about, random.pick(wordings(play.task, about, random)));
}

function wordings(task: StarterTask, about: Kind | 'idle' | 'vague', random: Random): readonly string[] {
  if (about === 'vague') return VAGUE_QUESTIONS;
  if (about !== 'idle') return questionsAbout(task, about);
  return idleQuestions(task, random.pick(IDLE_TOPICS));
}

/** What the demonstrator puts into its program. What it was not told it leaves out. */
function believed(play: Play, random: Random): Known {
  const values: Known = {};
  for (const { kind, options } of play.task.decisions) {
    const told = play.told[kind];
    if (told !== undefined) values[kind] = random.number() < HABITS.slips ? random.pick(options) : told;
  }
  return values;
}
