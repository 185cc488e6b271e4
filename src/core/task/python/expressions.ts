import { PythonStrings } from './strings';

export function withStrings(text: string, instead: (length: number) => string): string {
  const strings = new PythonStrings(text);
  let told = '';
  for (let at = 0; at < text.length;) {
    const end = strings.at(at)?.end;
    told += end === undefined ? text[at]! : instead(end - at);
    at = end ?? at + 1;
  }
  return told;
}

/** Text inside a string that looks like a comment stays. */
export function withoutComments(text: string): string {
  const blanked = withStrings(text, (length) => ' '.repeat(length));
  let told = '';
  for (let at = 0; at < text.length;) {
    const comment = blanked.indexOf('#', at);
    if (comment === -1) return told + text.slice(at);
    told += text.slice(at, comment);
    const lineEnd = text.indexOf('\n', comment);
    if (lineEnd === -1) return told;
    at = lineEnd;
  }
  return told;
}

const NAME = /(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*/gu;

/** Names that a text without strings uses; no attributes and no keyword arguments' names. */
export function* namesUsed(text: string): Generator<{ readonly name: string; readonly index: number }> {
  for (const { 0: name, index } of text.matchAll(NAME)) {
    const isKeyword = /^\s*=(?!=)/.test(text.slice(index + name.length));
    if (!isKeyword) yield { name, index };
  }
}

/** First offset of an operator outside of brackets and strings. */
export function topLevel(text: string, operator: ',' | '=='): number | undefined {
  return placesOf(text, operator).next().value ?? undefined;
}

/** The parts between the commas of the top level; a last comma begins no part. */
export function argumentsIn(text: string): string[] {
  const commas = [...placesOf(text, ','), text.length];
  const parts = commas.map((end, index) => text.slice(index === 0 ? 0 : commas[index - 1]! + 1, end).trim());
  return parts.at(-1) === '' ? parts.slice(0, -1) : parts;
}

/** Up to the bracket that closes one opened right before the text; undefined when none does. */
export function upToClosing(text: string): string | undefined {
  const blanked = withStrings(text, (length) => ' '.repeat(length));
  let depth = 0;
  for (let at = 0; at < blanked.length; at += 1) {
    if ('([{'.includes(blanked[at]!)) depth += 1;
    else if (')]}'.includes(blanked[at]!)) depth -= 1;
    if (depth < 0) return text.slice(0, at);
  }
  return undefined;
}

/** With its strings emptied, and without what is in brackets. */
export function outermost(text: string): string {
  const blanked = withStrings(text, () => '""');
  let depth = 0;
  let told = '';
  for (const character of blanked) {
    if (')]}'.includes(character)) depth -= 1;
    if (depth === 0) told += character;
    if ('([{'.includes(character)) depth += 1;
  }
  return told;
}

function* placesOf(text: string, operator: ',' | '=='): Generator<number, undefined> {
  const blanked = withStrings(text, (length) => ' '.repeat(length));
  let depth = 0;
  for (let at = 0; at < blanked.length; at += 1) {
    if ('([{'.includes(blanked[at]!)) depth += 1;
    else if (')]}'.includes(blanked[at]!)) depth -= 1;
    else if (depth === 0 && blanked.startsWith(operator, at)) yield at;
  }
  return undefined;
}
