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
const NAMED = new RegExp(NAME, 'i');
/** Emphasis around a marker belongs to it. */
const EMPHASIS = '[*_`]*';
/** List bullets and numbers, quote and heading signs, in any order. */
const PREFIX = '(?:[ \\t>#]|[-*+•](?=[ \\t])|\\d+[.)](?=[ \\t]))*';

/** At the start of a line: in any case, the colon optional when nothing else stands there. */
const OPENING = new RegExp(`^(${PREFIX})${EMPHASIS}${NAME}${EMPHASIS}[ \\t]*(?:[:\uFF1A]${EMPHASIS}|$)`, 'i');
/** Amid a line: upper case with its colon. */
const INLINE = new RegExp(`(?<=[ \\t])${EMPHASIS}${NAME}${EMPHASIS}:${EMPHASIS}`, 'g');

/** Nobody writes a paragraph of prose that long; what stands further in is looked at by no expensive rule. */
const LONGEST_PROSE = 4000;

/** Nobody writes so many markers in a line either; later ones are none. */
const MOST_IN_LINE = 20;

/** A quotation within a line. An inch sign after a number and an apostrophe after a letter open none. */
const QUOTATION = /(?<![\p{L}\p{N}])(["'`])(?:(?!\1).|(?<=\p{L})'(?=\p{L}))*\1(?!\p{L})/gu;

/**
 * Finds the markers of a message that stand in prose: in no code fence, quotation, comment or docstring. In linear time,
 * as everything here: an agent may write anything.
 */
export function markersOf(text: string): Marker[] {
  if (!NAMED.test(text)) return [];
  const lines = linesOf(text);
  const fences = fencedRanges(text);
  const markers: Marker[] = [];
  let fence = 0;
  for (const line of lines) {
    while (fence < fences.length && fences[fence]!.end <= line.start) fence += 1;
    if (!NAMED.test(line.text) || (fence < fences.length && fences[fence]!.start <= line.start)) continue;
    for (const marker of markersOfLine(line.text, isAmidCode(line)))
      markers.push({ ...marker, start: line.start + marker.start, end: line.start + marker.end });
  }
  return markers;
}

function markersOfLine(line: string, inCode: boolean): Marker[] {
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
  const prose = line.slice(0, LONGEST_PROSE);
  const quotations = [...prose.matchAll(QUOTATION)];
  const isQuoted = (position: number): boolean =>
    quotations.some(({ index, 0: { length } }) => index < position && position < index + length);
  for (const match of [...prose.slice(end).matchAll(INLINE)].slice(0, MOST_IN_LINE)) {
    const start = end + match.index;
    const before = prose.slice(0, start);
    if (!/\p{L}/u.test(before) || /^\s*#/.test(before) || isCode(before) || isQuoted(start)) continue;
    const name = nameOf(match[1]!);
    markers.push({ name, opensLine: false, upperCase: true, start, end: start + match[0].length });
  }
  return markers;
}

const nameOf = (name: string): Marker['name'] => (/^output$/i.test(name) ? 'output' : 'answer');

/** A line of a message, and what stands around it. */
interface Line {
  readonly text: string;
  /** It begins here in the message. */
  readonly start: number;
  /** Code, fenced or not, or an example ("Input: …") stands somewhere above it. */
  readonly belowCode: boolean;
  /** The next line above it and below it that says something and is no `#` line. */
  readonly above: Saying | undefined;
  readonly below: Saying | undefined;
}

/** A line that says something; whether it is code is looked up once, however many lines ask. */
interface Saying {
  readonly isCode: boolean;
}

function linesOf(text: string): Line[] {
  const said = text.split('\n').map((line) => ({
    text: line,
    isComment: /^\s*#/.test(line),
    isCode: isCode(line),
    says: line.trim() !== '',
  }));
  const below: (Saying | undefined)[] = [];
  let next: Saying | undefined;
  for (const line of said.toReversed()) {
    below.push(next);
    if (line.says && !line.isComment) next = line;
  }
  below.reverse();
  let above: Saying | undefined;
  let belowCode = false;
  let start = 0;
  return said.map((line, index) => {
    const placed = { text: line.text, start, belowCode, above, below: below[index] };
    start += line.text.length + 1;
    belowCode ||= line.isCode || opensFence(line.text) || EXAMPLE.test(line.text);
    if (line.says && !line.isComment) above = line;
    return placed;
  });
}

const EXAMPLE = /^\W*input:/i;

/**
 * Whether a marker in this line may belong to code without a fence or to an example ("Input: … Output: …"). A `#` line
 * is a comment next to code, though the heading of an answer may stand above it; any other line is text of a
 * docstring when code comes before it.
 */
function isAmidCode({ text, belowCode, above, below }: Line): boolean {
  if (!/^\s*#/.test(text)) return belowCode;
  return above?.isCode === true || (!/answer/i.test(text) && below?.isCode === true);
}

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
const isCode = (line: string): boolean => PYTHON_LINES.some((form) => form.test(line));

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
function opensFence(line: string): boolean {
  const fence = fenceOf(line);
  return fence !== undefined && !(fence.mark.startsWith('`') && fence.info.includes('`'));
}

/** The code fences of a text, in list items and quotations too; one that never closes reaches to the end. */
export function fencedRanges(text: string): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  let open: { mark: string; depth: number; start: number } | undefined;
  let start = 0;
  for (const line of text.split('\n')) {
    const fence = fenceOf(line);
    if (open === undefined) {
      if (opensFence(line)) open = { mark: fence!.mark, depth: fence!.before.length, start };
    } else if (
      fence !== undefined &&
      // As in CommonMark: a fence much further in, as a docstring may have one, closes nothing.
      /^[ \t>]*$/.test(fence.before) &&
      fence.before.length <= open.depth + 3 &&
      fence.mark.startsWith(open.mark) &&
      fence.info.trim() === ''
    ) {
      ranges.push({ start: open.start, end: start + line.length });
      open = undefined;
    }
    start += line.length + 1;
  }
  if (open !== undefined) ranges.push({ start: open.start, end: text.length });
  return ranges;
}
