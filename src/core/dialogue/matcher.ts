import type { Fact } from '../task/task';
import { withoutTerms } from './asking';
import { mattersOf, type Matter } from './matters';
import type { Question } from './questions';
import { stems } from './stem';

/** How much the sentence before a question counts, beside the question itself. */
const CONTEXT_WEIGHT = 0.25;

/** How much a word counts that the task's description has as well: it names the matter, not the decision. */
const DESCRIBED_WEIGHT = 0.5;

/** How much a word counts that is only part of a keyword, or that only a wording of the answer has. */
const PART_WEIGHT = 0.4;
const WORDING_WEIGHT = 0.3;

/** How much it counts that question and fact are about the same matter, by the fact's keywords or only its wordings. */
const MATTER_WEIGHT = 0.7;
const WORDED_MATTER_WEIGHT = 0.4;

/** Words that any question may have count little in a keyword of several words such as "at the limit". */
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

/** Words with which one asks on about what was just said. */
const FOLLOWING_WORDS: ReadonlySet<string> = new Set(
  stems(
    'inclusive inclusively exclusive exclusively include included including exclude excluded exactly exact precisely ' +
      'strictly strict limit threshold boundary bound border edge point cutoff cut size length itself equal equals ' +
      'down right sure part',
  ),
);

/** Finds the fact that a question is about: by keywords, rare ones counting more, then by nearness. */
export class Matcher {
  /** The keywords of each fact, as stems. */
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
   * The fact that the question is about; the first of equals. Who asks in general must name one fact only, and who
   * asks about the program itself must name a keyword.
   * @param previous what was spoken of last, to which a question without words of its own belongs
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

  /**
   * What "And at exactly that value?" is about: what was said before if that has a boundary, else the one fact that is
   * about a boundary, else what was said before. A keyword goes before all but the first.
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

  /** How strongly the keywords of each fact occur in the text. */
  private scores(text: string): number[] {
    const said = new Said(text);
    return this.keywords.map((phrases) =>
      phrases.filter(({ words }) => said.has(words)).reduce((sum, { weight }) => sum + weight, 0),
    );
  }

  /**
   * How near each fact is without its keywords: by parts of them, by words of its wordings, by common matters.
   * A word that is in a keyword of the text counts there only.
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

  /** For each fact, the things it has, shared among the facts that have them. */
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

  /** The words of a keyword. A word of the description tells less than others. */
  private weight(phrase: readonly string[]): number {
    const words = phrase.map((stem) =>
      FUNCTION_WORDS.has(stem) ? FUNCTION_WORD_WEIGHT : this.described.has(stem) ? DESCRIBED_WEIGHT : 1,
    );
    return words.reduce((sum, weight) => sum + weight, 0);
  }
}

interface Phrase {
  readonly words: readonly string[];
  /** Its words count so much, shared among the facts that have it. */
  readonly weight: number;
}

/** "Is the limit included?", "Inclusive or exclusive?", "Up or down?": nothing in it says what it is about. */
const isFollowUp = (text: string): boolean =>
  stems(text).every((stem) => COMMON_WORDS.has(stem) || FOLLOWING_WORDS.has(stem));

/** What a text says, to look for phrases in it. */
class Said {
  readonly words: ReadonlySet<string>;
  private readonly inOrder: string;

  constructor(text: string) {
    const words = stems(text);
    this.words = new Set(words);
    this.inOrder = ` ${words.join(' ')} `;
  }

  /** A phrase with function words ("at the limit") has to stand there as it is; of others the words may be apart. */
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
