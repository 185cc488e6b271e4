import { checkInWords, type CheckResult } from './checks';
import { differencesOf, type Difference } from './differences';
import { differenceInWords } from './outlineWords';
import { matchTexts } from './matching';
import type { Box, Outline, PageText } from './outline';

/** Something that a draft has wrong. */
export interface Mistake {
  /** As the rules tell it. */
  readonly sentence: string;
  /** What is wrong, such as `text color 3`: the color of the wanted page's text with the index 3. */
  readonly aspects: readonly string[];
}

/** A sentence about the draft or the wanted page that can be read with certainty. */
export interface Claim {
  readonly sentence: string;
  readonly isTrue: boolean;
  /** The draft's mistake that it tells. */
  readonly mistake?: Mistake;
}

export interface ReadReply {
  readonly claims: readonly Claim[];
  /** Sentences whose claims cannot be read with certainty, or that claim nothing. */
  readonly unread: number;
}

/** How a draft stands against the wanted page. */
export interface DraftReading {
  readonly mistakes: readonly Mistake[];
  /** True if the draft has all of it as wanted. What cannot be seen, such as the size of a missing text, is not right. */
  hasRight(mistake: Mistake): boolean;
  /** True if something is wrong that the draft before had right. */
  isWorseThan(before: this): boolean;
}

/** Two drafts are comparable only if they were read against the same outline object of the wanted page. */
export class OutlineReading implements DraftReading {
  readonly mistakes: readonly Mistake[];
  private readonly wrong: ReadonlySet<string>;
  /** The draft's text for each text of the wanted page that it has. */
  private readonly matched: ReadonlyMap<number, PageText>;
  private readonly extra: readonly PageText[];

  constructor(
    readonly draft: Outline,
    readonly wanted: Outline,
  ) {
    const { matches, extra } = matchTexts(draft, wanted);
    this.extra = extra;
    this.matched = new Map(matches.map((match) => [wanted.texts.indexOf(match.wanted), match.draft]));
    this.mistakes = differencesOf(draft, wanted).map((difference) => ({
      sentence: differenceInWords(difference, wanted),
      aspects: aspectsOf(difference, wanted),
    }));
    this.wrong = new Set(this.mistakes.flatMap(({ aspects }) => aspects));
  }

  hasRight({ aspects }: Mistake): boolean {
    return aspects.every((aspect) => this.isRight(aspect));
  }

  isWorseThan(before: this): boolean {
    if (this.extra.length > before.extra.length) return true;
    if (this.draft.pictures.length > Math.max(before.draft.pictures.length, this.wanted.pictures.length)) {
      return true;
    }
    // A changed word makes another extra text, so extra ones are counted above.
    return [...this.wrong].some((aspect) => !aspect.startsWith('extra ') && before.isRight(aspect));
  }

  private isRight(aspect: string): boolean {
    const [, kind, first, second] = /^(\D+?)(?: (\d+))?(?: (\d+))?$/.exec(aspect) ?? [];
    if (this.wrong.has(aspect)) return false;
    switch (kind) {
      case 'missing text':
      case 'wording':
      case 'text color':
      case 'text size':
      case 'side':
        return this.matched.has(Number(first));
      // Where the size is wrong, the weight is not told.
      case 'bold':
        return this.matched.has(Number(first)) && !this.wrong.has(`text size ${first}`);
      // Where the background of the page is wrong, the areas that show it are not told.
      case 'area color':
        return this.matched.has(Number(first)) && !this.wrong.has('page background');
      case 'order': {
        // Told of neighbors only.
        const [upper, lower] = [this.matched.get(Number(first)), this.matched.get(Number(second))];
        return upper !== undefined && lower !== undefined && upper.box.y < lower.box.y + lower.box.height - 1;
      }
      case 'picture size':
        return !this.wrong.has(`missing picture ${first}`);
      default:
        return true;
    }
  }
}

function aspectsOf(difference: Difference, wanted: Outline): readonly string[] {
  const { kind } = difference;
  const text = (one: PageText): string => `${kind} ${wanted.texts.indexOf(one)}`;
  const picture = (box: Box): string => `${kind} ${wanted.pictures.indexOf(box)}`;
  switch (kind) {
    case 'page background':
    case 'extra picture':
      return [kind];
    case 'extra text':
      return [`${kind} “${difference.draft.text}”`];
    case 'area color':
      return difference.texts.map(text);
    case 'order':
      return [`${text(difference.wanted)} ${wanted.texts.indexOf(difference.above)}`];
    case 'missing picture':
    case 'picture size':
      return [picture(difference.wanted)];
    default:
      return [text(difference.wanted)];
  }
}

/** By the checks of a task, without drawing. Two readings are of the same checks in the same order. */
export class CheckReading implements DraftReading {
  readonly mistakes: readonly Mistake[];

  constructor(readonly results: readonly CheckResult[]) {
    const failing = results.flatMap((result, index) =>
      result.passed ? [] : [{ sentence: checkInWords(result), aspect: String(index) }],
    );
    this.mistakes = [...Map.groupBy(failing, ({ sentence }) => sentence)].map(([sentence, of]) => ({
      sentence,
      aspects: of.map(({ aspect }) => aspect),
    }));
  }

  hasRight({ aspects }: Mistake): boolean {
    return aspects.every((index) => this.results[Number(index)]!.passed);
  }

  isWorseThan(before: this): boolean {
    return this.mistakes.some((mistake) =>
      mistake.aspects.some((index) => before.results[Number(index)]!.passed),
    );
  }

  /** Only sentences as the rules write them can be checked; how many others a reply has is not counted. */
  readReply(reply: string): ReadReply {
    const told = this.mistakes.filter(({ sentence }) => reply.includes(sentence));
    return {
      claims: told.map((mistake) => ({ sentence: mistake.sentence, isTrue: true, mistake })),
      unread: 0,
    };
  }
}
