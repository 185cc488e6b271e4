import { choiceBy } from '../seed';
import { Fault } from '../fault';
import type { Fact, ProgramTask } from '../task/task';
import { taskTitle } from '../task/title';
import { askedIn } from './factMatcher';
import { noPreferenceWordings } from './noPreference';
import type { Question } from './questions';

interface RulesPosition {
  /** The collaborator's earlier replies in this dialogue, oldest first. */
  readonly history: readonly string[];
  /** Chooses the wordings: the same seed at the same turn gives the same text. */
  readonly seed: number;
  /** Maximum number of characters of the reply; facts that do not fit are left for later. ColBench's 400 by default. */
  readonly replyLimit?: number;
}

const MAX_FACTS = 3;

/**
 * Plays the collaborator by rules: finds the fact that each question of the agent is about, and tells it. It never
 * tells more than was asked: one fact for each question, no list of everything, and nothing but the wordings of the
 * facts. It claims to have no preference only where no fact is near, since calling a decided matter open would spoil
 * the task.
 *
 * @param message the visible part of the agent's message
 * @throws {Fault} `dialogue/no-facts` when the task has none
 */
export function answerByRules(task: ProgramTask, message: string, position: RulesPosition): string {
  const facts = task.facts ?? [];
  if (facts.length === 0) {
    throw new Fault(
      'dialogue/no-facts',
      `The task “${taskTitle(task)}” has no "facts", which the rules simulator needs. Add facts to the task, use a model as the simulator, or reply yourself.`,
    );
  }
  const all = askedIn(task, message, position.history.at(-1));
  const questions = all.map(({ question }) => question);
  const asked = [...new Set(all.flatMap(({ fact }) => fact ?? []))];
  // A second half that names no subject of its own ("… and how large is it?") belongs to the first.
  const open = all.flatMap(({ question, fact }) => (fact || question.continues ? [] : question));
  const voice = new Voice(position);
  return asked.length === 0 ? voice.withoutFact(questions) : voice.tell(asked, open);
}

const wordings = {
  again: ['As I said:', 'As I said before:', 'Like I said:', 'Same as before:'],
  ...noPreferenceWordings,
  tooGeneral: [
    'That is a bit broad. What exactly would you like to know?',
    "There is no list I could give you. Ask me about one thing and I'll tell you.",
    'Hard to say in general. Which part are you unsure about?',
    'Could you be more specific? I can answer a question about a certain case.',
  ],
  noCode: [
    'There is no code I can hand over; that is what I need from you. Ask me how it should behave.',
    'I have no code to show, but I can tell you how a certain case should come out.',
    'You write the code, please. I can answer questions about what it should do.',
  ],
  nothingAsked: [
    'Okay. Is there anything you need to know from me?',
    'Fine. Tell me what you need to know, or go ahead.',
    'All right. What would you like to ask?',
    'Sure, go on. Ask if something is unclear.',
  ],
  later: [
    'That is a lot at once; please ask the rest afterwards.',
    'One after the other, please: ask me the rest next.',
    'Ask me the others again in a moment.',
  ],
} as const;

type Occasion = keyof typeof wordings;

const isSpecific = ({ kind }: Question): boolean => kind === 'specific' || kind === 'programming';

class Voice {
  private readonly limit: number;

  constructor(private readonly position: RulesPosition) {
    this.limit = position.replyLimit ?? 400;
  }

  tell(facts: readonly Fact[], open: readonly Question[]): string {
    const sentences = facts.map((fact) => this.sentence(fact));
    for (let count = Math.min(facts.length, MAX_FACTS); ; count--) {
      const told = sentences.slice(0, count).join(' ');
      const rest = count < facts.length ? this.say('later') : this.about(open);
      const reply = rest === undefined ? told : `${told} ${rest}`;
      if (reply.length <= this.limit) return reply;
      if (count === 1) return told;
    }
  }

  withoutFact(questions: readonly Question[]): string {
    if (questions.length === 0) return this.say('nothingAsked');
    if (questions.some(({ kind }) => kind === 'code')) return this.say('noCode');
    return this.say(questions.every(isSpecific) ? 'noPreference' : 'tooGeneral');
  }

  private about(open: readonly Question[]): string | undefined {
    if (open.length === 0) return undefined;
    if (open.some(({ kind }) => kind === 'code')) return this.say('noCode');
    return this.say(open.every(isSpecific) ? 'noPreferenceForTheRest' : 'tooGeneral');
  }

  private sentence(fact: Fact): string {
    const answer = this.choose(fact.answers, fact.topic);
    const told = this.position.history.some((reply) =>
      fact.answers.some((wording) => reply.includes(wording)),
    );
    return told ? `${this.choose(wordings.again, fact.topic)} ${answer}` : answer;
  }

  /** If possible, a wording that this dialogue has not used yet. */
  private say(occasion: Occasion): string {
    const all = wordings[occasion];
    const fresh = all.filter((text) => !this.position.history.some((reply) => reply.includes(text)));
    return this.choose(fresh.length > 0 ? fresh : all, occasion);
  }

  private choose(options: readonly string[], about: string): string {
    const { seed, history } = this.position;
    return choiceBy(options, seed, history.length, about);
  }
}
