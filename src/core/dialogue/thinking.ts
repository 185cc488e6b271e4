import { Search, type GrowingText, type TextRange } from '../growingText';
import { fencedRanges } from './markers';

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
