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
const OPENING = new RegExp(
  `^(${PREFIX})${EMPHASIS}${NAME}${EMPHASIS}[ \\t]*(?:[:\uFF1A]${EMPHASIS}|(?=[ \\t]*$))`,
  'i',
);
/** Amid a line: upper case with its colon. */
const INLINE = new RegExp(`(?<=[ \\t])${EMPHASIS}${NAME}${EMPHASIS}:${EMPHASIS}`, 'g');

/** Nobody writes a paragraph of prose that long; what stands further in is looked at by no expensive rule. */
const LONGEST_PROSE = 4000;

/** A quotation within a line. An inch sign after a number and an apostrophe after a letter open none. */
const QUOTATION = /(?<![\p{L}\p{N}])(["'`])(?:(?!\1).|(?<=\p{L})'(?=\p{L}))*\1(?!\p{L})/gu;

/** Finds the markers of a message that stand in prose: in no code fence, quotation, comment or docstring. */
export function markersOf(text: string): Marker[] {
  const fences = fencedRanges(text);
  const markers: Marker[] = [];
  const lines = text.split('\n');
  let offset = 0;
  for (const [i, line] of lines.entries()) {
    const named = NAMED.test(line);
    if (named && !fences.some(({ start, end }) => start <= offset && offset < end)) {
      const inCode = isAmidCode(lines, i, text.slice(0, offset));
      for (const marker of markersOfLine(line, inCode))
        markers.push({ ...marker, start: offset + marker.start, end: offset + marker.end });
    }
    offset += line.length + 1;
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
    end += match[0].length;
  }
  for (const match of line.slice(end, LONGEST_PROSE).matchAll(INLINE)) {
    const start = end + match.index;
    const before = line.slice(0, start);
    if (!/\p{L}/u.test(before) || /^\s*#/.test(before) || isCode(before) || isQuoted(line, start)) continue;
    const name = nameOf(match[1]!);
    markers.push({ name, opensLine: false, upperCase: true, start, end: start + match[0].length });
  }
  return markers;
}

const nameOf = (name: string): Marker['name'] => (/^output$/i.test(name) ? 'output' : 'answer');

const isQuoted = (line: string, position: number): boolean =>
  [...line.slice(0, LONGEST_PROSE).matchAll(QUOTATION)].some(
    ({ index, 0: quotation }) => index < position && position < index + quotation.length,
  );

/**
 * Whether a marker in this line may belong to code without a fence or to an example ("Input: … Output: …"). A `#` line
 * is a comment next to code, though the heading of an answer may stand above it; any other line is text of a
 * docstring when code comes before it.
 */
function isAmidCode(lines: readonly string[], index: number, textBefore: string): boolean {
  if (!/^\s*#/.test(lines[index]!)) return hasCode(textBefore) || /^\W*input:/im.test(textBefore);
  const says = (line: string): boolean => line.trim() !== '' && !/^\s*#/.test(line);
  const above = lines.slice(0, index).findLast(says);
  const below = lines.slice(index + 1).find(says);
  return [above, /answer/i.test(lines[index]!) ? undefined : below].some(
    (line) => line !== undefined && isCode(line),
  );
}

const PYTHON_LINE = new RegExp(
  [
    '(?:async )?def \\w+\\s*\\(',
    'class \\w+.*:',
    'import [\\w.]+(?:,| as |\\s*$)',
    'from [\\w.]+ import ',
    'return\\b[ \\t]*(?:\\S+|.*[-+*/%()[\\]<>=,"\'].*)?$',
    'for .+ in .+:\\s*(?:#.*)?$',
    '(?:if|elif|while|with|except) .+:\\s*(?:#.*)?$',
    '(?:else|try|finally):',
    '@\\w+',
    '[A-Za-z_][\\w.]*(?:\\[[^\\]]*\\])*(?:\\s*,\\s*[A-Za-z_]\\w*)*\\s*(?:[-+*/%&|^]|//|\\*\\*)?=(?!=)\\s*\\S',
    '[\\w.]+\\(.*\\)\\s*(?:#.*)?$',
    '[rR]?(?:"""|\'\'\')',
  ]
    .map((form) => `^\\s*${form}`)
    .join('|'),
  'm',
);

/** Whether a line, as far as it goes, is Python rather than English. */
const isCode = (line: string): boolean => PYTHON_LINE.test(line);

/** Whether a text holds Python code, in a fence or bare. */
export function hasCode(text: string): boolean {
  return fencedRanges(text).length > 0 || isCode(text);
}

/** The code fences of a text, in list items and quotations too; one that never closes reaches to the end. */
export function fencedRanges(text: string): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  let open: { fence: string; depth: number; start: number } | undefined;
  for (const match of text.matchAll(/^((?:[ \t>]|[-*+•][ \t]|\d+[.)][ \t])*)(`{3,}|~{3,})([^\n]*)$/gm)) {
    const [whole, before, fence, info] = match as unknown as [string, string, string, string];
    if (open === undefined) {
      if (fence.startsWith('`') && info.includes('`')) continue;
      open = { fence, depth: before.length, start: match.index };
    } else if (
      // As in CommonMark: a fence much further in, as a docstring may have one, closes nothing.
      /^[ \t>]*$/.test(before) &&
      before.length <= open.depth + 3 &&
      fence.startsWith(open.fence) &&
      info.trim() === ''
    ) {
      ranges.push({ start: open.start, end: match.index + whole.length });
      open = undefined;
    }
  }
  if (open !== undefined) ranges.push({ start: open.start, end: text.length });
  return ranges;
}
