import type { Fact, ProgramTask } from '../task/task';
import { withoutTerms, stems, type Question, questionsOf } from './questions';

/** Weight of the sentence before a question, relative to the question itself. */
const CONTEXT_WEIGHT = 0.25;

/** Weight of a word that the task's description has as well: it names the matter, not the decision. */
const DESCRIBED_WEIGHT = 0.5;

/** Weights of a word that is only part of a keyword, and of a word that occurs only in a wording of the answer. */
const PART_WEIGHT = 0.4;
const WORDING_WEIGHT = 0.3;

/** Weights of a matter that question and fact share, by the fact's keywords and by its wordings only. */
const MATTER_WEIGHT = 0.7;
const WORDED_MATTER_WEIGHT = 0.4;

/** Weight of a word that any question may have, in a keyword of several words such as "at the limit". */
const FUNCTION_WORD_WEIGHT = 0.1;
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  stems(
    'a an the of on in at to for from with by as per and or not no than then is are be do does it that this what which ' +
      'how much many when who if only there',
  ),
);

/** Words that say nothing about what a question is about when they stand alone. */
const COMMON_WORDS: ReadonlySet<string> = new Set([
  ...FUNCTION_WORDS,
  ...stems(
    'i you we they he she me my your our their them its these those one ones some any all each every other others own ' +
      'was were been being did done has have had can could may might must shall should will would let want like need ' +
      'use take get give gets gives go goes come comes make makes put say says mean means tell know see show return ' +
      'returned result results function value values number numbers input output case cases thing things something ' +
      'someone somebody anything still also just even too so but more less most very well up out off over under into ' +
      'about after before between while during because where why whose whom happen happens count counts same different ' +
      'way kind sort okay ok right yes assume please there here now again always never ever else instead both',
  ),
]);

/** Words of a follow-up question about what was just said. */
const FOLLOWING_WORDS: ReadonlySet<string> = new Set(
  stems(
    'inclusive inclusively exclusive exclusively include included including exclude excluded exactly exact precisely ' +
      'strictly strict limit threshold boundary bound border edge point cutoff cut size length itself equal equals ' +
      'down right sure part',
  ),
);

/** Finds the fact that a question is about: by keywords, rare ones counting more, then by nearness. */
class Matcher {
  private readonly keywords: readonly (readonly Phrase[])[];
  private readonly parts: readonly ReadonlySet<string>[];
  private readonly wordings: readonly ReadonlySet<string>[];
  private readonly named: readonly ReadonlySet<Matter>[];
  private readonly worded: readonly ReadonlySet<Matter>[];
  private readonly described: ReadonlySet<string>;

  constructor(
    private readonly facts: readonly Fact[],
    description: string,
  ) {
    this.described = new Set(stems(description));
    const keywords = facts.map((fact) => distinctPhrases([fact.topic, ...fact.keywords]));
    const sharing = Map.groupBy(keywords.flat(), (phrase) => phrase.join(' '));
    this.keywords = keywords.map((phrases) =>
      phrases.map((words) => ({ words, weight: this.weight(words) / sharing.get(words.join(' '))!.length })),
    );
    this.parts = keywords.map((phrases) => new Set(phrases.flat()));
    this.wordings = facts.map((fact) => new Set(fact.answers.flatMap(stems)));
    this.named = facts.map((fact) => mattersOf([fact.topic, ...fact.keywords].join('\n')));
    this.worded = facts.map((fact) => mattersOf(fact.answers.join('\n')));
  }

  /**
   * Returns the fact that the question is about, the first of equals; undefined when there is none. A general question
   * must name exactly one fact, and a question about the program itself must name a keyword.
   * @param previous the fact spoken of last, to which a question without words of its own belongs
   */
  match(question: Question, previous: Fact | undefined): Fact | undefined {
    const { kind, context, continues } = question;
    const text = withoutTerms(question.text);
    if (kind === 'code' || kind === 'everything') return undefined;
    const direct = this.scores(text);
    const isNamed = direct.some((score) => score > 0);
    if (kind === 'general' && direct.filter((score) => score > 0).length !== 1) return undefined;
    if (kind === 'programming' && !isNamed) return undefined;
    if (continues || isFollowUp(text)) {
      const fact = this.followUp(text, previous, isNamed);
      if (fact !== undefined) return fact;
    }
    const contextual = this.scores(context);
    const near = this.nearness(text);
    return this.best(
      direct.map((score, i) => (score > 0 ? score + CONTEXT_WEIGHT * contextual[i]! : 0) + near[i]!),
    );
  }

  withKeywordIn(text: string): Fact[] {
    const scores = this.scores(text);
    return this.facts.filter((_, i) => scores[i]! > 0);
  }

  /**
   * The fact that a question such as "And at exactly that value?" is about: the previous one if it has a boundary, else
   * the only fact about a boundary, else the previous one. A keyword in the text precedes all but the first rule.
   */
  private followUp(text: string, previous: Fact | undefined, isNamed: boolean): Fact | undefined {
    const isBoundary = mattersOf(text).has('boundary');
    if (isBoundary && previous !== undefined && this.worded[this.facts.indexOf(previous)]!.has('boundary')) {
      return previous;
    }
    if (isNamed) return undefined;
    const boundaries = this.facts.filter((_, i) => this.named[i]!.has('boundary'));
    return isBoundary && boundaries.length === 1 ? boundaries[0] : previous;
  }

  private best(scores: readonly number[]): Fact | undefined {
    const best = Math.max(...scores);
    return best > 0 ? this.facts[scores.indexOf(best)] : undefined;
  }

  private scores(text: string): number[] {
    const said = new Said(text);
    return this.keywords.map((phrases) =>
      phrases.filter(({ words }) => said.has(words)).reduce((sum, { weight }) => sum + weight, 0),
    );
  }

  /**
   * Scores without keywords: by parts of them, by words of the wordings, by common matters. A word that is in a keyword
   * of the text counts only there.
   */
  private nearness(text: string): number[] {
    const said = new Said(text);
    const matched = new Set(
      this.keywords
        .flat()
        .filter(({ words }) => said.has(words))
        .flatMap(({ words }) => words),
    );
    const words = [...said.words].filter((stem) => !COMMON_WORDS.has(stem) && !matched.has(stem));
    const touched = [...mattersOf(text)];
    const inParts = this.evidence(words, this.parts, PART_WEIGHT);
    const inWordings = this.evidence(words, this.wordings, WORDING_WEIGHT);
    const inNamed = this.evidence(touched, this.named, MATTER_WEIGHT);
    const inWorded = this.evidence(touched, this.worded, WORDED_MATTER_WEIGHT);
    return this.facts.map((_, i) => inParts[i]! + inWordings[i]! + inNamed[i]! + inWorded[i]!);
  }

  /** A thing's weight is shared among the facts that have it. */
  private evidence<T extends string>(
    things: readonly T[],
    having: readonly ReadonlySet<T>[],
    each: number,
  ): number[] {
    const weights = things.map((thing) => {
      const sharing = having.filter((set) => set.has(thing)).length;
      return (each * (this.described.has(thing) ? DESCRIBED_WEIGHT : 1)) / Math.max(sharing, 1);
    });
    return having.map((set) => things.reduce((sum, thing, i) => sum + (set.has(thing) ? weights[i]! : 0), 0));
  }

  /** Words of the description and function words weigh less than others. */
  private weight(phrase: readonly string[]): number {
    const words = phrase.map((stem) =>
      FUNCTION_WORDS.has(stem) ? FUNCTION_WORD_WEIGHT : this.described.has(stem) ? DESCRIBED_WEIGHT : 1,
    );
    return words.reduce((sum, weight) => sum + weight, 0);
  }
}

/** Matchers by task: a task is asked about many times, and most of the work is to read its facts. */
const matchers = new WeakMap<ProgramTask, Matcher>();

export function matcherOf(task: ProgramTask): Matcher {
  const known = matchers.get(task);
  if (known !== undefined) return known;
  const matcher = new Matcher(task.facts ?? [], task.description);
  matchers.set(task, matcher);
  return matcher;
}

interface Phrase {
  readonly words: readonly string[];
  /** Weight of its words, divided by the number of facts that have the phrase. */
  readonly weight: number;
}

/** True if nothing in the text says what it is about: "Is the limit included?", "Up or down?". */
const isFollowUp = (text: string): boolean =>
  stems(text).every((stem) => COMMON_WORDS.has(stem) || FOLLOWING_WORDS.has(stem));

class Said {
  readonly words: ReadonlySet<string>;
  private readonly inOrder: string;

  constructor(text: string) {
    const words = stems(text);
    this.words = new Set(words);
    this.inOrder = ` ${words.join(' ')} `;
  }

  /** A phrase with function words ("at the limit") must occur as it is; the words of others may stand apart. */
  has(phrase: readonly string[]): boolean {
    return phrase.some((stem) => FUNCTION_WORDS.has(stem))
      ? this.inOrder.includes(` ${phrase.join(' ')} `)
      : phrase.every((stem) => this.words.has(stem));
  }
}

function distinctPhrases(texts: readonly string[]): string[][] {
  const phrases = new Map(texts.map((text) => [stems(text).join(' '), stems(text)]));
  phrases.delete('');
  return [...phrases.values()];
}

/**
 * Matters that decisions are commonly about. A question of such a matter goes to a fact of the same matter even when
 * the two have no word in common: "What is the highest fine?" and "We never ask for more than 10 euros."
 */
type Matter = keyof typeof matters;

const matters = {
  boundary:
    /\b(?:in|ex)clu(?:sive|sively|ded?|ding)\b|\b(?:exact|precise)(?:ly)?\b|\bboundary\b|\bstrict(?:ly)?\b|\bequal to\b|\bitself\b|\b(?:at|on) the (?:limit|threshold|boundary|edge)\b|\bright (?:at|on)\b|[<>]=?/i,
  threshold:
    /\bthreshold|\blimit\b|\bcut-?off\b|\bkicks? in\b|\b(?:at|from|over|above|below|under|beyond|until|up to|after) (?:which|what|how)\b|\b(?:when|where) (?:does|do|is|are)\b.{0,300}\b(?:starts?|begins?|appl(?:y|ies)|too)\b|\b(?:over|above|from|up to|at least|more than|below|under|until|starts? at) (?:\w+ )?\d|\d (?:\w+ )?or (?:more|less|longer)\b/i,
  maximum:
    /\bmaxim\w+|\bmax\b|\b(?:at|the) most\b|\bcap(?:ped|s)?\b|\bupper (?:limit|bound)\b|\bever\b|\bnever (?:\w+ ){1,3}more\b|\bno more than\b|\bhighest\b|\bbounded\b|\bat most\b|\bstop (?:at|after)\b|\btop \w+\b/i,
  minimum:
    /\bminim\w+|\bmin\b|\bat least\b|\bfewest\b|\bshortest\b|\bsmallest\b|\btoo (?:few|short|small)\b/i,
  rounding:
    /\bround\w*|\btruncat\w*|\bfloor(?:ed|ing)\b|\bceil\b|\bdecimals?\b|\bfractions?\b|\bwhole\b|\bintegers?\b|\bnearest\b|\bprecision\b|\b(?:part|half) of an?\b|\bstarted\b|\bfull\b|\d\.\d/i,
  empty:
    /\bempty\b|\bnothing\b|\bno \w+ at all\b|\bwithout any\b|\bno(?:ne)? (?:\w+ )?(?:given|left|there|remain\w*)\b|\bblank\b|\bzero\b/i,
  missing:
    /\bmissing\b|\bnone\b|\babsent\b|\bnull\b|\bmark(?:s|ed)? .{0,300}(?:fail|missing)|\bfailed\b|\bno data\b|\bdid not\b/i,
  invalid:
    /\binvalid\b|\bunknown\b|\bunexpected\b|\bunsupported\b|\bnot (?:valid|known|recogni[sz]ed|allowed)\b|\bmalformed\b|\bgarbage\b|\bnonsense\b|\berrors?\b|\bany other\b|\bsuch as\b/i,
  unit: /\b(?:what|which|in|of) (?:\w+ )?units?\b|\bcurrency\b|\bmeasured in\b|\btenths?\b|\bin (?:euros?|cents?|dollars?|grams?|kilos?|kilograms?|minutes?|hours?|seconds?|degrees?|met(?:er|re)s?|percent)\b/i,
  ties: /\bties?\b|\btied\b|\bsame (?:\w+ )?(?:score|number|points|count|totals?|rank|place)\b|\bequal(?:ly)?\b|\bidentical\b|\blevel\b|\bdecides?\b/i,
  order:
    /\border(?:ed|ing)?\b|\bsort(?:ed|ing)?\b|\bascending\b|\bdescending\b|\bsequence\b|\balphabet\w*|\bcomes? first\b/i,
  repetition:
    /\btwice\b|\bduplicates?\b|\brepeat\w*|\bmore than once\b|\bseveral times\b|\boverlap\w*|\bintersect\w*/i,
  case: /\b(?:upper|lower)[- ]?case\b|\bcapitals?\b|\bcase[- ](?:in)?sensitiv\w+/i,
  share: /\bpercent(?:age)?\b|\bshare\b|\bproportion\b|%/i,
  default: /\bdefaults?\b|\busual(?:ly)?\b|\bnormal(?:ly)?\b/i,
} as const satisfies Record<string, RegExp>;

const all = Object.entries(matters) as [Matter, RegExp][];

const mattersOf = (text: string): ReadonlySet<Matter> =>
  new Set(all.filter(([, form]) => form.test(text)).map(([matter]) => matter));

interface QuestionAboutFact {
  readonly question: Question;
  readonly fact: Fact | undefined;
}

/**
 * @param message the visible part of the agent's message
 * @param lastReply the collaborator's previous reply, which the message may follow up
 */
export function askedIn(
  task: ProgramTask,
  message: string,
  lastReply: string | undefined,
): QuestionAboutFact[] {
  const { facts = [] } = task;
  const matcher = matcherOf(task);
  let previous = lastTold(facts, lastReply ?? '');
  return questionsOf(message).map((question) => {
    const fact = matcher.match(question, previous);
    previous = fact ?? previous;
    return { question, fact };
  });
}

function lastTold(facts: readonly Fact[], reply: string): Fact | undefined {
  const ends = facts.map((fact) => Math.max(...fact.answers.map((answer) => reply.lastIndexOf(answer))));
  const last = Math.max(...ends);
  return last < 0 ? undefined : facts[ends.indexOf(last)];
}
