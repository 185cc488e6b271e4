/** Tells Python from the prose around it, line by line and without parsing either. Takes linear time. */

import { endOfLine, nesting, tidy, type Quote } from './source';

/**
 * Returns the code in a text that has no fences: all of it when no line is surely prose, else the parts that begin like
 * a statement and last until the next line that is surely prose. Undefined when no part is code.
 */
export function codeAmongProse(lines: readonly string[]): string | undefined {
  const parts: string[][] = [[]];
  let isCode = true;
  let indent = 0;
  let quote: Quote = null;
  let depth = 0;
  let continued = false;
  for (const line of lines) {
    const { bare, quote: after } = endOfLine(line, quote);
    if (quote === null && depth === 0 && !continued && line.trim() !== '') {
      const column = line.search(/\S/);
      if (isCode && (column < indent || (column === 0 && isProse(line, bare)))) isCode = false;
      if (!isCode) {
        if (!beginning.test(line) || isProse(line, bare)) continue;
        isCode = true;
        indent = column;
        parts.push([]);
      }
    } else if (!isCode) continue;
    parts.at(-1)!.push(line);
    depth = Math.max(0, depth + nesting(bare));
    continued = after === null && bare.endsWith('\\');
    quote = after;
  }
  const found = parts.map((part) => part.join('\n')).filter((part) => part.trim() !== '');
  if (found.length === 0) return undefined;
  return found.length === 1 ? found[0] : found.map(tidy).join('\n');
}

/** A call alone begins nothing: behind prose it is an example. */
const beginning = new RegExp(
  '^[ \\t]*(?:' +
    [
      '(?:async[ \\t]+)?def[ \\t]+[\\p{L}\\p{N}_]+[ \\t]*[([]',
      'class[ \\t]+[\\p{L}\\p{N}_]+[ \\t]*[(:[]',
      'import[ \\t]',
      'from[ \\t]+[\\p{L}\\p{N}_.]+[ \\t]+import[ \\t(]',
      '@[\\p{L}_]',
      '[rRuU]?(?:"""|\'\'\')',
      '[\\p{L}_][\\p{L}\\p{N}_.]*\\.[\\p{L}\\p{N}_]+\\(',
      '[\\p{L}_][\\p{L}\\p{N}_., \\t]*(?:\\[[^\\]]*\\][ \\t]*)?(?::[^=]*)?[-+*/%&|^]?=(?!=)',
      '(?:if|for|while|with|try)\\b[^:]*:',
    ].join('|') +
    ')',
  'u',
);

const keywords = new Set(
  (
    'and as assert async await break case class continue def del elif else except finally for from global if import ' +
    'in is lambda match nonlocal not or pass raise return try type while with yield False None True'
  ).split(' '),
);

/** Signs that Python has nowhere outside of strings and comments, and beginnings that no statement has. */
const foreignSigns = /[`$?]|!(?!=)|[^ \t\f\p{L}\p{N}\p{M}_\u200b\u2060\ufeff\x21-\x7e]/u;
const foreignBeginning = /^(?:[-+*<>=|&%/,;:]|\d+[.)]\s)/;
/** Also where it could be Python (`That is all`, `Time: O(1)`, `-1`): it would do nothing there but raise. */
const title = /^[\p{L}_][\p{L}\p{N}_' ,]*[.:]?$|^[\p{L}_][\p{L}\p{N}_]*:[^=]*$/u;
const foreignAssignment = /^\w+\([^()]*\) ?=(?!=)/;

/** @param bare the line without its strings and comment */
function isProse(line: string, bare: string): boolean {
  const text = bare.trim();
  if (text === '' || line.trim().startsWith('#')) return false;
  if (foreignSigns.test(text) || foreignBeginning.test(text) || foreignAssignment.test(text)) return true;
  if (title.test(text) && !keywords.has(/^[\p{L}\p{N}_]*/u.exec(text)![0])) return true;
  // In Python, no two names stand side by side. A quote in an f-string may have ended the string too early here.
  return !/[fF][rR]?["']/.test(line) && namesSideBySide(text);
}

function namesSideBySide(text: string): boolean {
  let name = '';
  let end = 0;
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const isName = !keywords.has(word);
    if (isName && name !== '' && text.slice(end, index).trim() === '') return true;
    name = isName ? word : '';
    end = index + word.length;
  }
  return false;
}
