import { Search } from '../growingText';

interface Marker {
  readonly name: 'output' | 'answer';
  /** True at the start of a line; list, quote and heading signs before it belong to the marker. */
  readonly opensLine: boolean;
  readonly upperCase: boolean;
  readonly start: number;
  readonly end: number;
}

const NAME = '(OUTPUT|I WANT TO ANSWER)';
export const NAMED = new RegExp(NAME, 'i');
export const MAX_NAME_CHARS = 'I WANT TO ANSWER'.length;
/** Emphasis around a marker belongs to it. */
const EMPHASIS = '[*_`]*';
/** List bullets and numbers, quote and heading signs, in any order, before a marker. */
const PREFIX = '(?:[ \\t>#]|[-*+•](?=[ \\t])|\\d+[.)](?=[ \\t]))*';

/** Marker at the start of a line: in any case; the colon is optional when nothing else stands there. */
const OPENING = new RegExp(`^(${PREFIX})${EMPHASIS}${NAME}${EMPHASIS}[ \\t]*(?:[:\uFF1A]${EMPHASIS}|$)`, 'i');
/** Marker within a line: in upper case and with its colon. */
const INLINE = new RegExp(`(?<=[ \\t])${EMPHASIS}${NAME}${EMPHASIS}:${EMPHASIS}`, 'g');

/** Each begins a message that can only be an answer. */
export const ANSWER_OPENINGS = ['OUTPUT:\nI WANT TO ANSWER:', 'I WANT TO ANSWER:'] as const;

export const MAX_LINE_CHARS = 4000;

/** Later markers of a line are ignored. */
const MAX_MARKERS_PER_LINE = 20;

/** Matches a quotation within a line. An inch sign after a number and an apostrophe after a letter open none. */
const QUOTATION = /(?<![\p{L}\p{N}])(["'`])(?:(?!\1).|(?<=\p{L})'(?=\p{L}))*\1(?!\p{L})/gu;

/**
 * Returns the markers of a line that are in prose, not in a quotation, comment or docstring. Takes linear time, like
 * everything here, because an agent may write anything.
 *
 * @param line no longer than `MAX_LINE_CHARS`
 * @param inCode whether it may belong to code without a fence or to an example ("Input: … Output: …")
 */
function markersOfLine(line: string, inCode: boolean): Marker[] {
  const markers: Marker[] = [];
  let end = 0;
  for (let match = OPENING.exec(line); match !== null; match = OPENING.exec(line.slice(end))) {
    const name = match[2]!;
    const upperCase = name === name.toUpperCase();
    // In code without a fence, a marker that is indented, in a comment or in lower case is part of the code.
    if (inCode && (match[1] !== '' || !upperCase)) return markers;
    markers.push({ name: nameOf(name), opensLine: true, upperCase, start: end, end: end + match[0].length });
    if (markers.length === MAX_MARKERS_PER_LINE) return markers;
    end += match[0].length;
  }
  let quotations: RegExpExecArray[] | undefined;
  const isQuoted = (position: number): boolean =>
    (quotations ??= [...line.matchAll(QUOTATION)]).some(
      ({ index, 0: { length } }) => index < position && position < index + length,
    );
  let looked = 0;
  for (const match of line.slice(end).matchAll(INLINE)) {
    if (looked++ === MAX_MARKERS_PER_LINE) break;
    const start = end + match.index;
    const before = line.slice(0, start);
    if (!/\p{L}/u.test(before) || /^\s*#/.test(before) || isCode(before) || isQuoted(start)) continue;
    const name = nameOf(match[1]!);
    markers.push({ name, opensLine: false, upperCase: true, start, end: start + match[0].length });
  }
  return markers;
}

const nameOf = (name: string): Marker['name'] => (/^output$/i.test(name) ? 'output' : 'answer');

/** An `Output:` of an example is not the message's. */
const beginsExample = (line: string): boolean => /^\W*input:/i.test(line);

/** A comment among code, a heading elsewhere. */
export const isComment = (line: string): boolean => /^\s*#/.test(line);

/** Patterns of a line of Python or of its beginning. Each of them takes linear time at most. */
const PYTHON_LINES: readonly RegExp[] = [
  /^\s*(?:async )?def \w+\s*\(/,
  /^\s*class \w.*:/,
  /^\s*import [\w.]+(?:,| as |\s*$)/,
  /^\s*from [\w.]+ import /,
  /^\s*return\b[ \t\r]*(?:\S+\s*)?$/,
  /^\s*return\b[^-+*/%()[\]<>=,"']*[-+*/%()[\]<>=,"']/,
  /^\s*for .(?:(?! in ).)* in .+:\s*(?:#|$)/,
  /^\s*(?:if|elif|while|with|except) .+:\s*(?:#|$)/,
  /^\s*(?:else|try|finally):/,
  /^\s*@\w+/,
  /^\s*[A-Za-z_][\w.]*(?:\[[^\]]*\])*(?:\s*,\s*[A-Za-z_]\w*)*\s*(?:[-+*/%&|^]|\/\/|\*\*)?=(?!=)\s*\S/,
  /^\s*[\w.]+\(.*\)\s*(?:#|$)/,
  /^\s*[rR]?(?:"""|''')/,
];

/** Also for the part of a line that has arrived. */
export const isCode = (line: string): boolean => PYTHON_LINES.some((form) => form.test(line));

export const hasCode = (text: string): boolean =>
  text.split('\n').some((line) => opensFence(line) || isCode(line));

const FENCE = /^((?:[ \t>]|[-*+•][ \t]|\d+[.)][ \t])*)(`{3,}|~{3,})(.*)/s;

function fenceOf(line: string): { before: string; mark: string; info: string } | undefined {
  const [, before = '', mark, info = ''] = FENCE.exec(line) ?? [];
  return mark === undefined ? undefined : { before, mark, info };
}

/** A fence of backticks has no backtick behind it in its line. */
function opensFence(line: string): boolean {
  const fence = fenceOf(line);
  return fence !== undefined && !(fence.mark.startsWith('`') && fence.info.includes('`'));
}

class FenceState {
  /** The open fence; `depth` is the number of characters before it in its line. */
  private open: { readonly mark: string; readonly depth: number } | undefined;

  isOpen(): boolean {
    return this.open !== undefined;
  }

  copy(): FenceState {
    return Object.assign(new FenceState(), this);
  }

  /** @returns whether the line is in a fence; the lines that open and close it do */
  take(line: string): boolean {
    const fence = fenceOf(line);
    if (this.open === undefined) {
      if (opensFence(line)) this.open = { mark: fence!.mark, depth: fence!.before.length };
      return this.isOpen();
    }
    if (
      fence !== undefined &&
      // CommonMark says that a fence which is indented much further closes nothing: it may be in a docstring.
      /^[ \t>]*$/.test(fence.before) &&
      fence.before.length <= this.open.depth + 3 &&
      fence.mark.startsWith(this.open.mark) &&
      fence.info.trim() === ''
    )
      this.open = undefined;
    return true;
  }
}

/** In list items and quotations too; a fence that never closes reaches to the end. */
export function fencedRanges(text: string): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  const fence = new FenceState();
  let opened = 0;
  let start = 0;
  for (const line of text.split('\n')) {
    const wasOpen = fence.isOpen();
    fence.take(line);
    if (!wasOpen && fence.isOpen()) opened = start;
    if (wasOpen && !fence.isOpen()) ranges.push({ start: opened, end: start + line.length });
    start += line.length + 1;
  }
  if (fence.isOpen()) ranges.push({ start: opened, end: text.length });
  return ranges;
}

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
