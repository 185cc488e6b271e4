import { answerByRules } from '../../src/core/dialogue/rules';
import type { ChatMessage } from '../../src/core/model/model';
import { DOMAINS } from '../../src/core/task/starter/domains';
import { KINDS, type DecisionKind, type Value } from '../../src/core/task/starter/program';
import {
  codeFor,
  IDLE_TOPICS,
  idleQuestions,
  questionsAbout,
  VAGUE_QUESTIONS,
  type StarterTask,
} from '../../src/core/task/starter/world';
import { HABITS } from './habits';
import type { Random } from '../../src/core/task/starter/draw';

/** Maximum number of messages of the agent; the last one should be the answer. */
export const MAX_TURNS = 6;

const IDLE_OPENINGS = ['hints', 'docstring'] as const;

type Known = Partial<Record<DecisionKind, Value>>;

/** One dialogue about a task, between an agent and the rule-based simulator. */
export class Play {
  readonly messages: ChatMessage[];
  readonly told: Known = {};
  /** All questions so far, as worded. */
  readonly asked: { readonly about: DecisionKind | 'idle' | 'vague'; readonly question: string }[] = [];
  private readonly replies: string[] = [];

  constructor(
    readonly task: StarterTask,
    private readonly seed: number,
  ) {
    this.messages = [{ role: 'user', content: task.task.description }];
  }

  /** Asks a question; one in the last turn gets no reply. */
  ask(about: DecisionKind | 'idle' | 'vague', question: string): void {
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

/** Returns the message with which an agent answers. */
export const answerWith = (code: string): string => `I WANT TO ANSWER:\n\`\`\`python\n${code}\n\`\`\``;

/** Plays a task with the demonstrator's habits. `knowing`: the demonstrator sees the hidden code. */
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

/** Asks about every decision and some other things, in any order, and answers correctly. */
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
  const choice = random.sample<DecisionKind | 'idle' | 'vague'>(
    [
      ...fresh.map((kind) => [kind, liking(task, kind, knowing)] as const),
      ['idle', HABITS.idle],
      ['vague', HABITS.vague],
    ],
    1,
  )[0]!;
  askAbout(play, choice, random);
}

function liking({ domain, decisions }: StarterTask, kind: DecisionKind, knowing: boolean): number {
  const place = thought(domain, kind);
  const hint = place === 'inOwn' || place === 'inNeither' ? HABITS.hintedInOwn : HABITS.hinted;
  const isHinted = decisions.some((decision) => decision.kind === kind && decision.cued);
  const isKnown = knowing && decisions.some((decision) => decision.kind === kind);
  return HABITS.liking[place] * (isHinted ? hint : 1) * (isKnown ? HABITS.knowing : 1);
}

/**
 * Returns which trade usually decides this kind: the task's own, the one for which the demonstrator mistakes it, both
 * or neither.
 */
export function thought(domain: string, kind: DecisionKind): keyof typeof HABITS.liking {
  const place = DOMAINS.findIndex(({ name }) => name === domain);
  const mistaken = DOMAINS[(place + HABITS.mistakenBy) % DOMAINS.length]!;
  const isOwn = DOMAINS[place]!.decisions[kind] !== undefined;
  if (mistaken.decisions[kind] === undefined) return isOwn ? 'inOwn' : 'inNeither';
  return isOwn ? 'inBoth' : 'inMistaken';
}

function askAbout(play: Play, about: DecisionKind | 'idle' | 'vague', random: Random): void {
  play.ask(about, random.pick(wordings(play.task, about, random)));
}

function wordings(
  task: StarterTask,
  about: DecisionKind | 'idle' | 'vague',
  random: Random,
): readonly string[] {
  if (about === 'vague') return VAGUE_QUESTIONS;
  if (about !== 'idle') return questionsAbout(task, about);
  return idleQuestions(task, random.pick(IDLE_TOPICS));
}

/** Returns the decisions in the demonstrator's program; those that it was not told are left out. */
function believed(play: Play, random: Random): Known {
  const values: Known = {};
  for (const { kind, options } of play.task.decisions) {
    const told = play.told[kind];
    if (told !== undefined) values[kind] = random.number() < HABITS.slips ? random.pick(options) : told;
  }
  return values;
}
