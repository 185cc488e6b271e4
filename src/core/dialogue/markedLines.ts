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

/** A marker in its text. */
interface Placed extends Marker {
  /** The end of what is said before it. */
  readonly said: number;
  /** Finds where something is said behind it. */
  readonly next: Search;
}

/** A place from which a message is what the collaborator sees. */
export interface Opening {
  /** The marker; both are the start of the text where there is none. */
  readonly start: number;
  readonly end: number;
  /** The end of what is said before the marker. */
  readonly said: number;
  /** Finds where something is said behind the marker. */
  readonly next: Search;
  /** The announcement of an answer that stands right before it: what follows both is the answer. */
  readonly swapped: Placed | undefined;
  /** The first announcement of an answer behind it of each doubt. */
  readonly answers: (Placed | undefined)[];
}

/** This tells how surely a marker is meant: upper case goes before lower, the start of a line before its middle, and of equals the first. */
const doubtOf = ({ opensLine, upperCase }: Marker): number => (upperCase ? (opensLine ? 0 : 1) : 2);
const DOUBTS = [0, 1, 2] as const;

/**
 * Reads a message line by line, and keeps of its markers those that may be meant. Nothing after the announcement of an
 * answer is a marker any more, except an `OUTPUT:` that follows with nothing in between, and one that opens a line when
 * there is no code in between: then the agent only thought about answering.
 */
export class MarkedLines {
  private readonly fence = new FenceState();
  /** Code, fenced or not, or an example ("Input: …") stands somewhere above. */
  private belowCode = false;
  /** The line above that says something and is no `#` line is code. */
  private aboveIsCode = false;
  /** The end of what is said in the lines so far. */
  private said: number;
  private readonly whole: Opening;
  /** The first `OUTPUT:` of each doubt that stands in no answer. */
  private outputs: (Opening | undefined)[] = [];
  /** These stand in `#` lines, which are comments if the next line that says something is code. */
  private waiting: (Opening | undefined)[] = [];
  private firstAnswer: Placed | undefined;
  private lastAnswer: Placed | undefined;
  /** The answer that was announced first has code in the lines so far. */
  private hasAnsweredCode = false;

  /**
   * @param start where the text begins
   * @param isThought whether it is a thought that is not closed, out of which only the clearest `OUTPUT:` leads
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

  /** The copy stays as it is now, and takes a line that may still grow. */
  copy(): MarkedLines {
    const copy = new MarkedLines(this.start, this.isThought);
    const copied = (opening: Opening | undefined): Opening | undefined =>
      opening && { ...opening, answers: [...opening.answers] };
    return Object.assign(copy, this, {
      fence: this.fence.copy(),
      whole: copied(this.whole),
      outputs: this.outputs.map(copied),
      waiting: this.waiting.map(copied),
    });
  }

  /**
   * @param line the next line, as far as it decides anything
   * @param start where it begins
   * @param said the end of what is said up to its end
   */
  take(line: string, start: number, said: number): void {
    const isFenced = this.fence.take(line);
    const code = isCode(line);
    const speaks = said > start && !isComment(line);
    if (speaks) this.settle(code);
    const begun = !isFenced && NAMED.test(line) && this.mark(line, start);
    // The line that announces it is no part of the answer; what follows in it is.
    const goesOn = this.firstAnswer !== undefined && this.firstAnswer.start < start;
    if (begun || (goesOn && hasCode(line))) this.hasAnsweredCode = true;
    this.belowCode ||= code || opensFence(line) || beginsExample(line);
    if (speaks) this.aboveIsCode = code;
    this.said = said;
  }

  /** Finds where the message begins. @param belowIsCode whether code follows on the last `#` lines */
  opening(belowIsCode: boolean): Opening | undefined {
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

  private open(output: Placed, among: (Opening | undefined)[]): void {
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
