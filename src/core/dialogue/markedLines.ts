import { Search } from '../growingText';
import {
  beginsExample,
  FenceState,
  hasCode,
  isCode,
  isComment,
  markersOfLine,
  NAMED,
  opensFence,
  type Marker,
} from './markers';

interface Placed extends Marker {
  /** Offset after the last non-blank character before the marker. */
  readonly said: number;
  readonly next: Search;
}

/** A place from which on the message is visible to the collaborator. */
export interface MarkerOpening {
  /** Offsets of the marker; both are the start of the text where there is no marker. */
  readonly start: number;
  readonly end: number;
  /** Offset after the last non-blank character before the marker. */
  readonly said: number;
  readonly next: Search;
  /** Announcement of an answer directly before the marker; the answer then follows the marker. */
  readonly swapped: Placed | undefined;
  /** First announcement of an answer behind the marker, for each level of doubt. */
  readonly answers: (Placed | undefined)[];
}

/** Rates how doubtful a marker is: 0 for upper case at the start of a line, 1 within a line, 2 for lower case. */
const doubtOf = ({ opensLine, upperCase }: Marker): number => (upperCase ? (opensLine ? 0 : 1) : 2);
const DOUBTS = [0, 1, 2] as const;

/**
 * Reads a message line by line, and keeps the markers that may be meant. Once an answer is announced, nothing counts as
 * a marker any more, except an `OUTPUT:` that follows with nothing in between, and one that opens a line when there is
 * no code in between: then the agent only thought about answering.
 */
export class MarkedLines {
  private readonly fence = new FenceState();
  /** True once code, fenced or not, or an example ("Input: …") has occurred above. */
  private belowCode = false;
  /** True when the last line above that is neither blank nor a `#` line is code. */
  private aboveIsCode = false;
  /** Offset after the last non-blank character of the lines so far. */
  private said: number;
  private readonly whole: MarkerOpening;
  /** First `OUTPUT:` of each level of doubt that is not inside an answer. */
  private outputs: (MarkerOpening | undefined)[] = [];
  /** Openings in `#` lines; they are comments if the next line that is neither blank nor a `#` line is code. */
  private waiting: (MarkerOpening | undefined)[] = [];
  private firstAnswer: Placed | undefined;
  private lastAnswer: Placed | undefined;
  /** True when code has followed the first announcement of an answer. */
  private hasAnsweredCode = false;

  /**
   * @param start offset at which the text begins
   * @param isThought true for a thought that is not closed, which only the clearest `OUTPUT:` can end
   */
  constructor(
    private readonly start: number,
    private readonly isThought: boolean,
  ) {
    this.said = start;
    this.whole = {
      ...{ start, end: start, said: start, swapped: undefined, answers: [] },
      next: new Search(/\S/, 1, start),
    };
  }

  get isWaiting(): boolean {
    return this.waiting.length > 0;
  }

  copy(): MarkedLines {
    const copy = new MarkedLines(this.start, this.isThought);
    const copied = (opening: MarkerOpening | undefined): MarkerOpening | undefined =>
      opening && { ...opening, answers: [...opening.answers] };
    return Object.assign(copy, this, {
      fence: this.fence.copy(),
      whole: copied(this.whole),
      outputs: this.outputs.map(copied),
      waiting: this.waiting.map(copied),
    });
  }

  /**
   * @param line the next line, cut at `MAX_LINE_CHARS` characters
   * @param start offset at which it begins
   * @param said offset after the last non-blank character up to its end
   */
  take(line: string, start: number, said: number): void {
    const isFenced = this.fence.take(line);
    const code = isCode(line);
    const speaks = said > start && !isComment(line);
    if (speaks) this.settle(code);
    const begun = !isFenced && NAMED.test(line) && this.mark(line, start);
    // The announcing line counts only behind the announcement, and `mark` has looked there.
    const goesOn = this.firstAnswer !== undefined && this.firstAnswer.start < start;
    if (begun || (goesOn && hasCode(line))) this.hasAnsweredCode = true;
    this.belowCode ||= code || opensFence(line) || beginsExample(line);
    if (speaks) this.aboveIsCode = code;
    this.said = said;
  }

  /** @param belowIsCode whether code follows the last `#` lines */
  opening(belowIsCode: boolean): MarkerOpening | undefined {
    for (const doubt of DOUBTS) {
      const known = this.outputs[doubt];
      const perhaps = belowIsCode ? undefined : this.waiting[doubt];
      const first = known && perhaps && perhaps.start < known.start ? perhaps : (known ?? perhaps);
      if (first !== undefined) return first;
    }
    return this.isThought ? undefined : this.whole;
  }

  private settle(isCode: boolean): void {
    if (this.waiting.length === 0) return;
    if (!isCode)
      for (const doubt of DOUBTS) {
        const [known, perhaps] = [this.outputs[doubt], this.waiting[doubt]];
        if (perhaps && (known === undefined || perhaps.start < known.start)) this.outputs[doubt] = perhaps;
      }
    this.waiting = [];
  }

  /** @returns whether an answer that the line announces begins with code in it */
  private mark(line: string, start: number): boolean {
    const comment = isComment(line);
    // A `#` line is a comment next to code, though the heading of an answer may stand above it; any other line is text
    // of a docstring when code comes before it.
    const inCode = comment ? this.aboveIsCode : this.belowCode;
    const waits = comment && !this.aboveIsCode && !/answer/i.test(line);
    let begun = false;
    for (const marker of markersOfLine(line, inCode)) {
      const before = line.slice(0, marker.start).trimEnd().length;
      const end = start + marker.end;
      const placed: Placed = {
        ...{ ...marker, start: start + marker.start, end, next: new Search(/\S/, 1, end) },
        said: before === 0 ? this.said : start + before,
      };
      if (marker.name === 'output') this.open(placed, waits ? this.waiting : this.outputs);
      else {
        this.announce(placed);
        begun ||= hasCode(line.slice(marker.end));
      }
    }
    return begun;
  }

  private open(output: Placed, among: (MarkerOpening | undefined)[]): void {
    const { start, end, said, next, opensLine } = output;
    if (this.isThought && doubtOf(output) > 0) return;
    const isInside =
      this.firstAnswer !== undefined && said > this.firstAnswer.end && (!opensLine || this.hasAnsweredCode);
    if (isInside && !this.isThought) return;
    const last = this.isThought ? undefined : this.lastAnswer;
    const swapped = last !== undefined && said <= last.end ? last : undefined;
    among[doubtOf(output)] ??= { start, end, said, next, swapped, answers: [] };
  }

  private announce(answer: Placed): void {
    for (const opening of [this.whole, ...this.outputs, ...this.waiting])
      if (opening !== undefined && opening.end <= answer.start) opening.answers[doubtOf(answer)] ??= answer;
    this.firstAnswer ??= answer;
    this.lastAnswer = answer;
  }
}
