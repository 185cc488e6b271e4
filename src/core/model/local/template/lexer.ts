// Splits a chat template into tokens as jinja2 does with `trim_blocks` and `lstrip_blocks`, as transformers sets them.

import { isSpace, stripEnd } from './characters';
import { refused } from './values';

export type TokenKind =
  'data' | 'begin' | 'end' | 'name' | 'string' | 'integer' | 'float' | 'operator' | 'done';

export interface Token {
  readonly kind: TokenKind;
  /** Of `begin` and `end`: `{{`, `{%`, `}}` or `%}`. */
  readonly text: string;
  readonly line: number;
}

/** The template is not one that Tandem renders as Python does; the message names the construct. */
export class TemplateSyntaxError extends Error {
  constructor(message: string, line: number) {
    super(`${message} (line ${line} of the template)`);
  }
}

const OPERATORS = [
  ...['//', '**', '==', '!=', '>=', '<='],
  ...['+', '-', '/', '*', '%', '~', '[', ']', '(', ')', '{', '}', '>', '<', '=', '.', ':', '|', ','],
];
const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' },
  ...{ '\\': '\\', "'": "'", '"': '"', '\n': '' },
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** @throws {TemplateSyntaxError} */
export function tokenize(template: string): Token[] {
  return new Lexer(template).tokens();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;
  #lineAt = 0;
  #startsLine = true;

  constructor(template: string) {
    this.#source = template.replaceAll('\r\n', '\n').replaceAll('\r', '\n').replace(/\n$/, '');
  }

  tokens(): Token[] {
    while (this.#at < this.#source.length) this.#data();
    this.#push('done', 'the end of the template');
    return this.#tokens;
  }

  #data(): void {
    const source = this.#source;
    let begin = source.indexOf('{', this.#at);
    while (begin >= 0 && !'{%#'.includes(source.charAt(begin + 1) || ' '))
      begin = source.indexOf('{', begin + 1);
    if (begin < 0) {
      this.#push('data', source.slice(this.#at));
      this.#at = source.length;
      return;
    }
    const mark = source.slice(begin, begin + 2);
    const sign = '-+'.includes(source.charAt(begin + 2) || ' ') ? source.charAt(begin + 2) : '';
    const text = this.#trimmed(source.slice(this.#at, begin), mark, sign);
    if (text !== '') this.#push('data', text);
    this.#at = begin + 2 + sign.length;
    this.#startsLine = false;
    if (mark === '{#') this.#comment();
    else this.#code(mark);
  }

  /** What stands before a mark, without the white space that the mark removes. */
  #trimmed(text: string, mark: string, sign: string): string {
    if (sign === '-') return stripEnd(text);
    if (sign === '+' || mark === '{{') return text;
    const line = text.lastIndexOf('\n') + 1;
    if (line === 0 && !this.#startsLine) return text;
    return Array.from(text.slice(line)).every(isSpace) ? text.slice(0, line) : text;
  }

  #comment(): void {
    const end = this.#source.indexOf('#}', this.#at);
    if (end < 0) throw this.#error('a comment has no end');
    const sign = end > this.#at ? this.#source.charAt(end - 1) : '';
    this.#at = end + 2;
    this.#afterMark(sign, true);
  }

  /** Removes white space after `-%}`, or one line break after `%}`. */
  #afterMark(sign: string, trims: boolean): void {
    const start = this.#at;
    if (sign === '-') while (isSpace(this.#source.charAt(this.#at))) this.#at++;
    else if (sign !== '+' && trims && this.#source.charAt(this.#at) === '\n') this.#at++;
    this.#startsLine = this.#at > start && this.#source.charAt(this.#at - 1) === '\n';
  }

  #code(mark: string): void {
    const close = mark === '{{' ? '}}' : '%}';
    const open: string[] = [];
    this.#push('begin', mark);
    for (;;) {
      while (isSpace(this.#source.charAt(this.#at))) this.#at++;
      if (this.#at >= this.#source.length) throw this.#error(`\`${mark}\` has no end`);
      if (open.length === 0 && this.#ends(close)) return;
      this.#expressionToken(open);
    }
  }

  #ends(close: string): boolean {
    const first = this.#source.charAt(this.#at);
    const sign = first === '-' || (first === '+' && close === '%}') ? first : '';
    if (!this.#source.startsWith(close, this.#at + sign.length)) return false;
    this.#push('end', close);
    this.#at += sign.length + close.length;
    this.#afterMark(sign, close === '%}');
    return true;
  }

  #expressionToken(open: string[]): void {
    const first = this.#source.charAt(this.#at);
    if (first === '"' || first === "'") {
      this.#string(first);
      return;
    }
    const word = this.#run(/[\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}_]/u);
    if (word !== '') {
      this.#word(word);
      return;
    }
    const operator = OPERATORS.find((each) => this.#source.startsWith(each, this.#at));
    if (operator === undefined) throw this.#error(`\`${first}\` is not expected`);
    if ('([{'.includes(operator)) open.push(operator);
    if (operator in CLOSING && open.pop() !== CLOSING[operator])
      throw this.#error(`\`${operator}\` closes nothing`);
    this.#push('operator', operator);
    this.#at += operator.length;
  }

  #word(word: string): void {
    if (!/^\d/.test(word)) {
      this.#push('name', word);
      this.#at += word.length;
      return;
    }
    if (!/^(0|[1-9]\d*)$/.test(word)) throw refused(`the number \`${word}\``);
    this.#at += word.length;
    const fraction = this.#source.charAt(this.#at) === '.' && this.#tokens.at(-1)?.text !== '.';
    const digits = fraction ? (/^\d*/.exec(this.#source.slice(this.#at + 1, this.#at + 40))?.[0] ?? '') : '';
    if (digits === '') {
      this.#push('integer', word);
      return;
    }
    this.#push('float', `${word}.${digits}`);
    this.#at += digits.length + 1;
  }

  #run(allowed: RegExp): string {
    let end = this.#at;
    while (end < this.#source.length && allowed.test(this.#source.charAt(end))) end++;
    return this.#source.slice(this.#at, end);
  }

  #string(quote: string): void {
    let text = '';
    let at = this.#at + 1;
    for (; this.#source.charAt(at) !== quote; at++) {
      if (at >= this.#source.length) throw this.#error('a string has no end');
      if (this.#source.charAt(at) !== '\\') {
        text += this.#source.charAt(at);
        continue;
      }
      const escape = this.#source.charAt(++at);
      const digits = HEX_DIGITS[escape];
      if (digits !== undefined) {
        const hex = this.#source.slice(at + 1, at + 1 + digits);
        if (hex.length < digits || !/^[0-9a-fA-F]+$/.test(hex) || parseInt(hex, 16) > 0x10ffff)
          throw this.#error(`the escape \`\\${escape}${hex}\``);
        text += String.fromCodePoint(parseInt(hex, 16));
        at += digits;
      } else if (/[0-7N]/.test(escape)) {
        throw refused(`the escape \`\\${escape}\``);
      } else {
        text += ESCAPES[escape] ?? `\\${escape}`;
      }
    }
    this.#push('string', text);
    this.#at = at + 1;
  }

  #push(kind: TokenKind, text: string): void {
    for (; this.#lineAt < this.#at; this.#lineAt++)
      if (this.#source.charAt(this.#lineAt) === '\n') this.#line++;
    this.#tokens.push({ kind, text, line: this.#line });
  }

  #error(message: string): TemplateSyntaxError {
    this.#push('done', '');
    return new TemplateSyntaxError(message, this.#line);
  }
}
