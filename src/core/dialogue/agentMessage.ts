import { GrowingText, Search, type TextRange } from '../growingText';
import {
  isCode,
  isComment,
  MAX_LINE_CHARS,
  MAX_NAME_CHARS,
  NAMED,
  MarkedLines,
  type MarkerOpening,
  fencedRanges,
} from './markers';

export interface AgentMessage {
  /** Text before `OUTPUT:`; kept in the log, never shown to the collaborator during play. */
  readonly thoughts: string;
  /** Text that the collaborator sees. For a final answer this includes the answer. */
  readonly visible: string;
  /** Text after `I WANT TO ANSWER:`; absent while the agent still asks. */
  readonly answer?: string;
}

interface Position {
  /** Undefined while all of the text is an unfinished thought. */
  readonly opening: MarkerOpening | undefined;
  readonly answer: Pick<MarkerOpening, 'start' | 'end' | 'said' | 'next'> | undefined;
}

interface PartBeginnings {
  readonly thinking: number;
  readonly before: string;
  readonly answer: string | undefined;
  /** Number of characters left out of `before` and `answer` together. */
  readonly left: number;
}

/**
 * An agent's message, taken apart while it arrives. A piece takes time in proportion to its own length, whatever came
 * before, and the result is the same however the text is cut into pieces.
 */
export class AgentReading {
  readonly text = new GrowingText();
  private readonly thinking = new Thinking();
  private readonly output = new Search(/OUTPUT:/, 'OUTPUT:'.length, 0);
  private lines = new MarkedLines(0, false);
  private first = new Search(/\S/, 1, 0);
  /** The line that may still grow, cut where nothing more in it can change the result, and its offset. */
  private line = '';
  private lineStart = 0;
  /** The lines including the growing one, once that is so long that nothing more in it can change the result. */
  private decided: MarkedLines | undefined;
  private named = new Search(NAMED, MAX_NAME_CHARS, 0);
  /** Offsets after the text so far, and after its last non-blank character. */
  private at = 0;
  private said = 0;
  /** The last line that is not blank; it ends after its line feed, once it has one. */
  private saidLine: TextRange = { start: 0, end: 0 };
  private known: Position | undefined;

  push(piece: string): void {
    this.text.push(piece);
    this.known = undefined;
    if (!this.thinking.read(this.text)) {
      this.feed(piece);
      return;
    }
    const { start, isUnfinished } = this.thinking;
    this.lines = new MarkedLines(start, isUnfinished);
    this.first = new Search(/\S/, 1, start);
    this.at = this.said = start;
    this.saidLine = { start, end: start };
    this.beginLine();
    this.feed(this.text.slice(start));
  }

  get hasOutput(): boolean {
    return this.output.in(this.text) !== undefined;
  }

  get message(): AgentMessage {
    const { text, thinking } = this;
    const { opening, answer } = this.position;
    const blocks = joined(...thinking.blocks.map(({ start, end }) => text.slice(start, end)));
    if (opening === undefined) return { thoughts: joined(blocks, text.slice(thinking.start)), visible: '' };
    const { start, end, swapped } = opening;
    const thoughts = joined(blocks, text.slice(thinking.start, swapped?.start ?? start));
    if (answer === undefined) return { thoughts, visible: text.slice(end).trim() };
    const code = text.slice(answer.end).trim();
    return { thoughts, visible: joined(text.slice(end, answer.start), code), answer: code };
  }

  /** Range of the visible text besides an answer, trimmed; undefined where there is none. */
  get spoken(): TextRange | undefined {
    const { opening, answer } = this.position;
    const start = opening?.next.in(this.text)?.start;
    const end = answer === undefined ? this.said : answer.said;
    return start !== undefined && start < end ? { start, end } : undefined;
  }

  /** The part of `spoken` that later text cannot change: whole lines, and all of it before an answer. */
  get certain(): TextRange | undefined {
    const { spoken } = this;
    if (spoken === undefined || this.position.answer !== undefined) return spoken;
    // The last line may hold the beginning of a marker, which must not be shown before it is known to be none.
    const end = this.at === this.lineStart ? this.saidLine.end : this.saidLine.start;
    return spoken.start < end ? { start: spoken.start, end } : undefined;
  }

  /** @param most maximum number of characters of visible text and of answer */
  beginning(most: number): PartBeginnings {
    const { text, spoken } = this;
    const { opening, answer } = this.position;
    const thoughts = this.lengthOf(this.first, (opening?.swapped ?? opening)?.said ?? this.said);
    const said = spoken === undefined ? 0 : spoken.end - spoken.start;
    const answered = answer === undefined ? 0 : this.lengthOf(answer.next, this.said);
    const from = (search: Search | undefined): string => {
      const start = search?.in(text)?.start ?? text.length;
      return text.slice(start, Math.min(start + most, this.said));
    };
    return {
      thinking: joinedLength(this.thinking.length, thoughts),
      before: spoken === undefined ? '' : text.slice(spoken.start, Math.min(spoken.start + most, spoken.end)),
      answer: answer === undefined ? undefined : from(answer.next),
      left: Math.max(0, said - most) + Math.max(0, answered - most),
    };
  }

  private lengthOf(first: Search, end: number): number {
    return Math.max(0, end - (first.in(this.text)?.start ?? end));
  }

  private get position(): Position {
    return (this.known ??= positionOf(this.opening()));
  }

  private opening(): MarkerOpening | undefined {
    const { lines, lineStart, said } = this;
    const name = this.named.in(this.text);
    const line = decisive(this.line);
    if (name !== undefined && name.end - lineStart <= MAX_LINE_CHARS) {
      const all = this.decided ?? lines.copy();
      if (this.decided === undefined) all.take(line, lineStart, said);
      if (this.line.length > MAX_LINE_CHARS) this.decided = all;
      return all.opening(false);
    }
    const spoken = lines.opening(false);
    if (!lines.isWaiting || said <= lineStart || isComment(line)) return spoken;
    const commented = lines.opening(true);
    return spoken !== commented && isCode(line) ? commented : spoken;
  }

  private feed(piece: string): void {
    const [first = '', ...rest] = piece.split('\n');
    this.grow(first);
    for (const part of rest) {
      this.endLine();
      this.grow(part);
    }
  }

  private grow(part: string): void {
    if (this.line.length <= MAX_LINE_CHARS) this.line += part.slice(0, MAX_LINE_CHARS + 1 - this.line.length);
    const said = part.trimEnd().length;
    if (said > 0) {
      this.said = this.at + said;
      this.saidLine = { start: this.lineStart, end: this.said };
    }
    this.at += part.length;
  }

  private endLine(): void {
    this.lines.take(decisive(this.line), this.lineStart, this.said);
    this.at += 1;
    if (this.saidLine.start === this.lineStart) this.saidLine = { start: this.lineStart, end: this.at };
    this.beginLine();
  }

  private beginLine(): void {
    this.line = '';
    this.lineStart = this.at;
    this.decided = undefined;
    this.named = new Search(NAMED, MAX_NAME_CHARS, this.at);
  }
}

/** The `…` keeps the cut from being read as the line's end. */
const decisive = (line: string): string =>
  line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}…`;

function positionOf(opening: MarkerOpening | undefined): Position {
  const swapped = opening?.swapped;
  // Nothing is said between an announcement and an `OUTPUT:` right behind it.
  const answer =
    swapped === undefined
      ? opening?.answers.find((one) => one !== undefined)
      : { ...opening!, start: opening!.end };
  return { opening, answer };
}

/**
 * An agent's message while it arrives, for a place that can only append: text is given out only when it is certain to
 * be visible. Thoughts and the announcement of an answer never are; an answer is given out whole, at the end.
 */
export class Unfolding {
  private reading = new AgentReading();
  private readonly given = new GrowingText();
  /** By offset: the number of characters from there that equal the text given out; undefined where one differs. */
  private readonly alike = new Map<number, number | undefined>();

  /** @returns the text that can be shown now, beyond what was given out before */
  push(piece: string): string {
    this.reading.push(piece);
    // Before an `OUTPUT:`, thoughts and message look alike.
    return this.reading.hasOutput ? this.give(this.reading.certain) : '';
  }

  restart(): void {
    this.reading = new AgentReading();
    this.alike.clear();
  }

  /** @returns the rest of the visible text, and the answer if the message holds one */
  end(): { readonly rest: string; readonly answer?: string } {
    const { answer } = this.reading.message;
    const rest = this.give(this.reading.spoken);
    return answer === undefined ? { rest } : { rest, answer };
  }

  private give(said: TextRange | undefined): string {
    const { given, reading } = this;
    if (said === undefined || said.end - said.start <= given.length || !this.isGiven(said.start)) return '';
    const more = reading.text.slice(said.start + given.length, said.end);
    given.push(more);
    this.alike.set(said.start, given.length);
    return more;
  }

  /** No character is compared twice. */
  private isGiven(start: number): boolean {
    const { given, alike, reading } = this;
    const known = alike.has(start) ? alike.get(start) : 0;
    if (known === undefined || known === given.length) return known !== undefined;
    const isSame = reading.text.slice(start + known, start + given.length) === given.slice(known);
    alike.set(start, isSame ? given.length : undefined);
    return isSame;
  }
}

const OPENING = /^<think(?:ing)?>/i;
const CLOSING = /<\/think(?:ing)?>/i;
const MAX_TAG_CHARS = '</thinking>'.length;

const BETWEEN = '\n\n';

export const joined = (...parts: readonly string[]): string =>
  parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(BETWEEN);

/** A length of 0 means that the part is blank. */
export const joinedLength = (first: number, second: number): number =>
  first + second + (first > 0 && second > 0 ? BETWEEN.length : 0);

/**
 * Takes `<think>` blocks off the start of a text while it grows. Some chat templates write the opening tag into the
 * prompt already.
 */
export class Thinking {
  /** Offset behind the closed blocks, or inside the open block while there is one. */
  start = 0;
  isUnfinished = false;
  /** The closed blocks that are not empty, without their tags. */
  readonly blocks: TextRange[] = [];
  length = 0;
  private isSettled = false;
  private said = new Search(/\S/, 1, 0);
  private closing = new Search(CLOSING, MAX_TAG_CHARS, 0);

  /** @returns whether `start` has moved */
  read(text: GrowingText): boolean {
    const before = this.start;
    while (!this.isSettled) {
      const opening = this.isUnfinished ? undefined : this.opening(text);
      if (opening !== undefined) {
        this.isUnfinished = true;
        this.go(opening);
      }
      const closing = this.closing.in(text);
      if (closing === undefined) break;
      if (this.isUnfinished || isClosedOnly(text.slice(this.start, closing.start))) {
        this.add(text, { start: this.start, end: closing.start });
        this.isUnfinished = false;
        this.go(closing.end);
      } else {
        this.isSettled = true;
      }
    }
    return this.start !== before;
  }

  private opening(text: GrowingText): number | undefined {
    const start = this.said.in(text)?.start;
    if (start === undefined) return undefined;
    const [tag] = OPENING.exec(text.slice(start, start + MAX_TAG_CHARS)) ?? [];
    return tag === undefined ? undefined : start + tag.length;
  }

  private add(text: GrowingText, block: TextRange): void {
    const thought = text.slice(block.start, block.end).trim();
    if (thought === '') return;
    this.blocks.push(block);
    this.length = joinedLength(this.length, thought.length);
  }

  private go(start: number): void {
    this.start = start;
    this.said = new Search(/\S/, 1, start);
    this.closing = new Search(CLOSING, MAX_TAG_CHARS, start);
  }
}

/** True if the closing tag after this text ends thoughts that began before it, and is not part of code. */
function isClosedOnly(before: string): boolean {
  // A fence that is still open reaches to the end, where the tag stands.
  return !/<think/i.test(before) && fencedRanges(`${before}\n`).at(-1)?.end !== before.length + 1;
}
