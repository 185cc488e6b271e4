/** An `OUTPUT:` or `I WANT TO ANSWER:` that counts as a marker. */
export interface Marker {
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

/** Maximum number of characters of a line that are searched. */
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
export function markersOfLine(line: string, inCode: boolean): Marker[] {
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
export const beginsExample = (line: string): boolean => /^\W*input:/i.test(line);

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

/** Matches a fence; its groups are the text before the fence, the fence, and the text behind it. */
const FENCE = /^((?:[ \t>]|[-*+•][ \t]|\d+[.)][ \t])*)(`{3,}|~{3,})(.*)/s;

function fenceOf(line: string): { before: string; mark: string; info: string } | undefined {
  const [, before = '', mark, info = ''] = FENCE.exec(line) ?? [];
  return mark === undefined ? undefined : { before, mark, info };
}

/** A fence of backticks has no backtick behind it in its line. */
export function opensFence(line: string): boolean {
  const fence = fenceOf(line);
  return fence !== undefined && !(fence.mark.startsWith('`') && fence.info.includes('`'));
}

/** Takes one line after the other. */
export class FenceState {
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
