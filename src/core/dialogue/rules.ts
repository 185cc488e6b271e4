import { createHash } from 'node:crypto';
import { Fault } from '../fault';
import type { Fact, Task } from '../task/task';
import { questionsOf, type Question } from './questions';
import { stems } from './stem';

export interface RulesPosition {
  /** The collaborator's earlier replies in this dialogue, the first one first. */
  readonly history: readonly string[];
  /** Chooses the wordings: the same seed at the same turn gives the same text. */
  readonly seed: number;
  /** Most characters of the reply; facts that do not fit are left for later. ColBench's 400 by default. */
  readonly replyLimit?: number;
}

/** Nobody answers more than this at once. */
const MOST_FACTS = 3;

/** How much the sentence before a question counts, beside the question itself. */
const CONTEXT_WEIGHT = 0.25;

/** How much a word counts that the task's description has as well: it names the matter, not the decision. */
const DESCRIBED_WEIGHT = 0.5;

/** Words that any question may have count little in a keyword of several words such as "at the limit". */
const FUNCTION_WORD_WEIGHT = 0.1;
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  stems(
    'a an the of on in at to for from with by as per and or not no than then is are be do does it that this what which ' +
      'how much many when who if only there',
  ),
);

/**
 * Plays the collaborator by rules: finds the fact that each question of the agent is about, and tells it. Never more
 * than was asked: one fact a question, no list of everything, and nothing but the wordings of the facts.
 *
 * @param message the visible part of the agent's message
 * @throws {Fault} `dialogue/no-facts` when the task has none
 */
export function answerByRules(task: Task, message: string, position: RulesPosition): string {
  const facts = task.facts ?? [];
  if (facts.length === 0) {
    throw new Fault(
      'dialogue/no-facts',
      `The task ${task.id} has no "facts", which the rules simulator needs. Add facts to the task, use a model as the simulator, or reply yourself.`,
    );
  }
  const questions = questionsOf(message);
  const matcher = new Matcher(facts, task.description);
  const matches = questions.map((question) => matcher.match(question));
  const asked = [...new Set(matches.filter((fact) => fact !== undefined))];
  // A second half that is about nothing by itself ("… and how large is it?") belongs to the first.
  const open = questions.filter(({ continues }, i) => matches[i] === undefined && !continues);
  const voice = new Voice(position);
  return asked.length === 0 ? voice.withoutFact(questions) : voice.tell(asked, open);
}

/** Scores facts against a question by the keywords that occur in it, rare ones counting more. */
class Matcher {
  private readonly keywords: readonly (readonly (readonly string[])[])[];
  private readonly described: ReadonlySet<string>;

  constructor(
    private readonly facts: readonly Fact[],
    description: string,
  ) {
    this.described = new Set(stems(description));
    this.keywords = facts.map((fact) => distinctPhrases([fact.topic, ...fact.keywords]));
  }

  /** The fact that the question is about; the first of equals. Who asks in general must name one fact only. */
  match(question: Question): Fact | undefined {
    if (question.kind === 'code' || question.kind === 'everything') return undefined;
    const direct = this.scores(question.text);
    if (question.kind === 'general' && direct.filter((score) => score > 0).length !== 1) return undefined;
    const context = this.scores(question.context);
    const totals = direct.map((score, i) => (score > 0 ? score + CONTEXT_WEIGHT * context[i]! : 0));
    const best = Math.max(...totals);
    return best > 0 ? this.facts[totals.indexOf(best)] : undefined;
  }

  private scores(text: string): number[] {
    const words = stems(text);
    return this.keywords.map((phrases) =>
      phrases
        .filter((phrase) => occursIn(words, phrase))
        .reduce((sum, phrase) => sum + this.weight(phrase), 0),
    );
  }

  /** The words of a keyword, shared among the facts that have it. A word of the description tells less than others. */
  private weight(phrase: readonly string[]): number {
    const name = phrase.join(' ');
    const sharing = this.keywords.filter((phrases) =>
      phrases.some((other) => other.join(' ') === name),
    ).length;
    const words = phrase.map((stem) =>
      FUNCTION_WORDS.has(stem) ? FUNCTION_WORD_WEIGHT : this.described.has(stem) ? DESCRIBED_WEIGHT : 1,
    );
    return words.reduce((sum, weight) => sum + weight, 0) / sharing;
  }
}

/** A phrase with function words ("at the limit") has to stand there as it is; of others the words may be apart. */
function occursIn(words: readonly string[], phrase: readonly string[]): boolean {
  return phrase.some((stem) => FUNCTION_WORDS.has(stem))
    ? ` ${words.join(' ')} `.includes(` ${phrase.join(' ')} `)
    : phrase.every((stem) => words.includes(stem));
}

function distinctPhrases(texts: readonly string[]): string[][] {
  const phrases = new Map(texts.map((text) => [stems(text).join(' '), stems(text)]));
  phrases.delete('');
  return [...phrases.values()];
}

const wordings = {
  again: ['As I said:', 'As I said before:', 'Like I said:', 'Same as before:'],
  noPreference: [
    "I don't mind, do what you think is best.",
    'No preference there, you decide.',
    'I have nothing special in mind for that, so it is up to you.',
    'That does not matter to me.',
    'No opinion on that one, just keep it simple.',
    "I can't say, nothing particular is needed there.",
  ],
  noPreferenceForTheRest: [
    'Apart from that I have no preference.',
    "The rest is up to you, I don't mind.",
    'As for the rest, do what you think is best.',
    'Beyond that I have nothing special in mind.',
  ],
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

/** Puts a reply into words, chosen by the seed and the turn. */
class Voice {
  private readonly limit: number;

  constructor(private readonly position: RulesPosition) {
    this.limit = position.replyLimit ?? 400;
  }

  tell(facts: readonly Fact[], open: readonly Question[]): string {
    const sentences = facts.map((fact) => this.sentence(fact));
    for (let count = Math.min(facts.length, MOST_FACTS); ; count--) {
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
    return this.say(questions.every(({ kind }) => kind === 'specific') ? 'noPreference' : 'tooGeneral');
  }

  /** What to add about questions that no fact answers. */
  private about(open: readonly Question[]): string | undefined {
    if (open.length === 0) return undefined;
    if (open.some(({ kind }) => kind === 'code')) return this.say('noCode');
    return this.say(open.every(({ kind }) => kind === 'specific') ? 'noPreferenceForTheRest' : 'tooGeneral');
  }

  private sentence(fact: Fact): string {
    const answer = this.choose(fact.answers, fact.topic);
    const told = this.position.history.some((reply) =>
      fact.answers.some((wording) => reply.includes(wording)),
    );
    return told ? `${this.choose(wordings.again, fact.topic)} ${answer}` : answer;
  }

  /** A wording for the occasion, if possible one that was not used in this dialogue yet. */
  private say(occasion: Occasion): string {
    const all = wordings[occasion];
    const fresh = all.filter((text) => !this.position.history.some((reply) => reply.includes(text)));
    return this.choose(fresh.length > 0 ? fresh : all, occasion);
  }

  private choose(options: readonly string[], about: string): string {
    const { seed, history } = this.position;
    const hash = createHash('sha256')
      .update(JSON.stringify([seed, history.length, about]))
      .digest();
    return options[hash.readUInt32BE() % options.length]!;
  }
}
