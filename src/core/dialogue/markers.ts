/** `OUTPUT:` or `I WANT TO ANSWER:` where it counts as one. */
export interface Marker {
  readonly name: 'output' | 'answer';
  /** It opens its line; list, quote and heading signs before it belong to it. */
  readonly opensLine: boolean;
  readonly upperCase: boolean;
  readonly start: number;
  readonly end: number;
}

const NAME = '(OUTPUT|I WANT TO ANSWER)';
/** Nothing is a marker that does not match it. */
export const NAMED = new RegExp(NAME, 'i');
export const LONGEST_NAME = 'I WANT TO ANSWER'.length;
/** Emphasis around a marker belongs to it. */
const EMPHASIS = '[*_`]*';
/** List bullets and numbers, quote and heading signs, in any order. */
const PREFIX = '(?:[ \\t>#]|[-*+•](?=[ \\t])|\\d+[.)](?=[ \\t]))*';

/** At the start of a line: in any case, the colon optional when nothing else stands there. */
const OPENING = new RegExp(`^(${PREFIX})${EMPHASIS}${NAME}${EMPHASIS}[ \\t]*(?:[:\uFF1A]${EMPHASIS}|$)`, 'i');
/** Amid a line: upper case with its colon. */
const INLINE = new RegExp(`(?<=[ \\t])${EMPHASIS}${NAME}${EMPHASIS}:${EMPHASIS}`, 'g');

/** Nobody writes a line that long and means a marker in it; what stands further in is looked at by no rule. */
export const LONGEST_LINE = 4000;

/** Nobody writes so many markers in a line either; later ones are none. */
const MOST_IN_LINE = 20;

/** A quotation within a line. An inch sign after a number and an apostrophe after a letter open none. */
const QUOTATION = /(?<![\p{L}\p{N}])(["'`])(?:(?!\1).|(?<=\p{L})'(?=\p{L}))*\1(?!\p{L})/gu;

/**
 * The markers of a line that stand in prose: in no quotation, comment or docstring. In linear time, as everything here:
 * an agent may write anything.
 *
 * @param line no longer than `LONGEST_LINE`
 * @param inCode it may belong to code without a fence or to an example ("Input: … Output: …")
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
    if (markers.length === MOST_IN_LINE) return markers;
    end += match[0].length;
  }
  let quotations: RegExpExecArray[] | undefined;
  const isQuoted = (position: number): boolean =>
    (quotations ??= [...line.matchAll(QUOTATION)]).some(
      ({ index, 0: { length } }) => index < position && position < index + length,
    );
  let looked = 0;
  for (const match of line.slice(end).matchAll(INLINE)) {
    if (looked++ === MOST_IN_LINE) break;
    const start = end + match.index;
    const before = line.slice(0, start);
    if (!/\p{L}/u.test(before) || /^\s*#/.test(before) || isCode(before) || isQuoted(start)) continue;
    const name = nameOf(match[1]!);
    markers.push({ name, opensLine: false, upperCase: true, start, end: start + match[0].length });
  }
  return markers;
}

const nameOf = (name: string): Marker['name'] => (/^output$/i.test(name) ? 'output' : 'answer');

/** Whether an example begins in the line, whose output is not the message's. */
export const beginsExample = (line: string): boolean => /^\W*input:/i.test(line);

/** A comment where there is code, a heading elsewhere. */
export const isComment = (line: string): boolean => /^\s*#/.test(line);

/** A line of Python begins or looks as a whole like one of these. None of them needs more than linear time. */
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

/** Whether a line, as far as it goes, is Python rather than English. */
export const isCode = (line: string): boolean => PYTHON_LINES.some((form) => form.test(line));

/** Whether a text holds Python code, in a fence or bare. */
export const hasCode = (text: string): boolean =>
  text.split('\n').some((line) => opensFence(line) || isCode(line));

/** A fence, what stands before it in its line, and behind it. */
const FENCE = /^((?:[ \t>]|[-*+•][ \t]|\d+[.)][ \t])*)(`{3,}|~{3,})(.*)/s;

function fenceOf(line: string): { before: string; mark: string; info: string } | undefined {
  const [, before = '', mark, info = ''] = FENCE.exec(line) ?? [];
  return mark === undefined ? undefined : { before, mark, info };
}

/** Whether the line opens a fence when none is open. One of backticks has none behind it. */
export function opensFence(line: string): boolean {
  const fence = fenceOf(line);
  return fence !== undefined && !(fence.mark.startsWith('`') && fence.info.includes('`'));
}

/** Which lines of a text stand in a code fence, told one after the other. */
export class FenceState {
  /** The fence that is open; `depth`: how far in it stands. */
  private open: { readonly mark: string; readonly depth: number } | undefined;

  isOpen(): boolean {
    return this.open !== undefined;
  }

  copy(): FenceState {
    return Object.assign(new FenceState(), this);
  }

  /** @returns whether the line stands in a fence; the lines that open and close it do */
  take(line: string): boolean {
    const fence = fenceOf(line);
    if (this.open === undefined) {
      if (opensFence(line)) this.open = { mark: fence!.mark, depth: fence!.before.length };
      return this.isOpen();
    }
    if (
      fence !== undefined &&
      // As in CommonMark: a fence much further in, as a docstring may have one, closes nothing.
      /^[ \t>]*$/.test(fence.before) &&
      fence.before.length <= this.open.depth + 3 &&
      fence.mark.startsWith(this.open.mark) &&
      fence.info.trim() === ''
    )
      this.open = undefined;
    return true;
  }
}

/** The code fences of a text, in list items and quotations too; one that never closes reaches to the end. */
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
